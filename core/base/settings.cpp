#include <tessera/core/base/settings.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iomanip>

#include <unistd.h>

#include <tessera/core/base/settings_check.h>

namespace tessera {
namespace {

struct SettingTable {
  std::mutex mutex;
  std::vector<const SettingEntry*> entries;
};

// Never destroyed: settings of other files may outlive any static of this one.
SettingTable& settings() {
  static auto* const instance = new SettingTable;
  return *instance;
}

std::string safe_value(const SettingEntry& setting) {
  try {
    return setting.value_text();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

}  // namespace

std::optional<bool> SettingType<bool>::parse(std::string_view text) {
  for (const char* yes : {"1", "on", "true", "yes"}) {
    if (text == yes) {
      return true;
    }
  }
  for (const char* no : {"0", "off", "false", "no"}) {
    if (text == no) {
      return false;
    }
  }
  return std::nullopt;
}

SettingEntry::SettingEntry(const char* name, const char* doc) : name_(name), doc_(doc) {
  const std::lock_guard lock(settings().mutex);
  settings().entries.push_back(this);
}

SettingEntry::~SettingEntry() {
  const std::lock_guard lock(settings().mutex);
  std::erase(settings().entries, this);
}

void SettingEntry::note_use() {
  say_idle_variables();
}

std::optional<std::string> SettingEntry::environment_text() const {
  const char* text = std::getenv(name_);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

std::vector<const SettingEntry*> all_settings() {
  const std::lock_guard lock(settings().mutex);
  auto entries = settings().entries;
  std::ranges::sort(entries, {},
                    [](const SettingEntry* entry) { return std::string_view(entry->name()); });
  return entries;
}

std::vector<std::string> unknown_settings() {
  const auto known = all_settings();
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const auto is_it = [&](const SettingEntry* setting) { return setting->name() == name; };
    if (name.starts_with("TESSERA_") && std::ranges::none_of(known, is_it)) {
      unknown.emplace_back(name);
    }
  }
  std::ranges::sort(unknown);
  return unknown;
}

void print_settings(std::ostream& out) {
  const auto settings = all_settings();
  std::size_t width = 0;
  for (const SettingEntry* setting : settings) {
    width = std::max(width, std::strlen(setting->name()));
  }
  for (const SettingEntry* setting : settings) {
    out << std::left << std::setw(static_cast<int>(width)) << setting->name() << "  "
        << safe_value(*setting) << "  (default " << setting->default_text() << ")  "
        << setting->doc() << '\n';
  }
}

}  // namespace tessera
