# Optional packages: TESSERA_WITH_<NAME>=AUTO|ON|OFF. AUTO uses what is found, ON insists.
find_package(Threads REQUIRED)
