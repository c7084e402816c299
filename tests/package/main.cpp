#include <tessera/tessera.h>

int main() {
  return tessera::Dims{2, 3}.size() == 2 ? 0 : 1;
}
