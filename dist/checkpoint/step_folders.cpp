#include <tessera/dist/checkpoint/step_folders.h>

#include <algorithm>
#include <charconv>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/base/log.h>

namespace tessera::dist {
namespace {

constexpr const char* kPrefix = "step-";
constexpr const char* kHidden = ".step-";
constexpr const char* kNew = ".new";    // being written
constexpr const char* kOld = ".old";    // replaced, or about to be: the step if it has no other
constexpr const char* kGone = ".gone";  // being removed

/// N of "<prefix>N<suffix>", written as we write it.
std::optional<std::int64_t> number_in(const std::string& name, const std::string& prefix,
                                      const std::string& suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return {};
  }
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - suffix.size();
  std::int64_t number = 0;
  const auto result = std::from_chars(begin, end, number);
  const bool plain = result.ec == std::errc() && result.ptr == end && number >= 0 &&
                     std::to_string(number) == std::string(begin, end);
  return plain ? std::optional(number) : std::nullopt;
}

std::string hidden_folder(const std::string& directory, std::int64_t step, const char* suffix) {
  return join_path(directory, kHidden + std::to_string(step) + suffix);
}

std::string visible_folder(const std::string& directory, std::int64_t step) {
  return join_path(directory, kPrefix + std::to_string(step));
}

bool is_directory(const std::string& path) {
  return file_system().kind(path) == FileKind::directory;
}

/// The step is what it was to be, or an error says more; `clean_up` finds what stays.
void remove_quietly(const std::string& path) {
  try {
    remove_tree(path);
  } catch (const Error&) {
    log_warning("checkpoint: '", path, "' could not be removed");
  }
}

/// Undoes a replacement that was cut short, and removes what is left of others.
void clean_up(const std::string& directory) {
  FileSystem& files = file_system();
  for (const DirectoryEntry& entry : files.list(directory)) {
    const std::string path = join_path(directory, entry.name);
    if (const auto step = number_in(entry.name, kHidden, kOld)) {
      if (!is_directory(visible_folder(directory, *step))) {
        files.rename(path, visible_folder(directory, *step));
        files.sync_directory(directory);
        continue;
      }
      remove_quietly(path);
    } else if (number_in(entry.name, kHidden, kNew) || number_in(entry.name, kHidden, kGone)) {
      remove_quietly(path);
    }
  }
}

/// Where names cannot be exchanged there is a moment at which only the old folder is there, under
/// its hidden name; list_steps and step_folder know it.
void replace_in_two_steps(const std::string& directory, std::int64_t step) {
  FileSystem& files = file_system();
  const std::string old_folder = hidden_folder(directory, step, kOld);
  files.rename(visible_folder(directory, step), old_folder);
  files.rename(hidden_folder(directory, step, kNew), visible_folder(directory, step));
  files.sync_directory(directory);
  remove_quietly(old_folder);
}

void commit(const std::string& directory, std::int64_t step) {
  FileSystem& files = file_system();
  const std::string fresh = hidden_folder(directory, step, kNew);
  const std::string folder = visible_folder(directory, step);
  if (!is_directory(folder)) {
    files.rename(fresh, folder);
    files.sync_directory(directory);
  } else if (files.exchange(fresh, folder)) {
    files.sync_directory(directory);
    remove_quietly(fresh);  // now the old one
  } else {
    replace_in_two_steps(directory, step);
  }
}

}  // namespace

std::vector<std::int64_t> list_steps(const std::string& directory) {
  if (file_system().kind(directory) == FileKind::missing) {
    return {};
  }
  std::vector<std::int64_t> steps;
  for (const DirectoryEntry& entry : file_system().list(directory)) {
    for (const auto& step :
         {number_in(entry.name, kPrefix, ""), number_in(entry.name, kHidden, kOld)}) {
      if (step.has_value() && entry.kind == FileKind::directory) {
        steps.push_back(*step);
      }
    }
  }
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::optional<std::int64_t> newest_step(const std::string& directory) {
  const std::vector<std::int64_t> steps = list_steps(directory);
  return steps.empty() ? std::nullopt : std::optional(steps.back());
}

std::string step_folder(const std::string& directory, std::int64_t step) {
  const std::string visible = visible_folder(directory, step);
  const std::string old_folder = hidden_folder(directory, step, kOld);
  return !is_directory(visible) && is_directory(old_folder) ? old_folder : visible;
}

void prepare_for_steps(const std::string& directory) {
  make_directories(directory);
  const std::string probe = join_path(directory, ".step-probe");
  remove_tree(probe);  // of a run that was killed just here
  file_system().make_directory(probe);
  file_system().remove_directory(probe);
}

void write_step_folder(const std::string& directory, std::int64_t step,
                       const std::function<void(const std::string& folder)>& write) {
  check(step >= 0, "save: a step is counted from 0; got ", step);
  make_directories(directory);
  clean_up(directory);
  FileSystem& files = file_system();
  const std::string fresh = hidden_folder(directory, step, kNew);
  try {
    files.make_directory(fresh);
    write(fresh);
    files.sync_directory(fresh);
  } catch (const std::exception&) {
    remove_quietly(fresh);
    throw;
  }
  commit(directory, step);
}

void keep_newest_steps(const std::string& directory, std::int64_t keep) {
  check(keep >= 1, "keep: at least one step is kept; got ", keep);
  std::vector<std::int64_t> steps = list_steps(directory);
  if (static_cast<std::int64_t>(steps.size()) <= keep) {
    return;
  }
  steps.resize(steps.size() - static_cast<std::size_t>(keep));
  FileSystem& files = file_system();
  clean_up(directory);
  for (const std::int64_t step : steps) {
    files.rename(visible_folder(directory, step), hidden_folder(directory, step, kGone));
  }
  files.sync_directory(directory);  // else a crash could bring back a name without its files
  for (const std::int64_t step : steps) {
    remove_tree(hidden_folder(directory, step, kGone));
  }
}

std::string set_aside_steps_after(const std::string& directory, std::int64_t step) {
  std::vector<std::int64_t> later = list_steps(directory);
  std::erase_if(later, [&](std::int64_t other) { return other <= step; });
  if (later.empty()) {
    return "";
  }
  FileSystem& files = file_system();
  clean_up(directory);
  std::string folder;
  for (int number = 1; folder.empty() || files.kind(folder) != FileKind::missing; ++number) {
    folder = join_path(directory, ".set-aside-" + std::to_string(number));
  }
  files.make_directory(folder);
  files.sync_directory(directory);
  for (const std::int64_t other : later) {
    files.rename(visible_folder(directory, other), visible_folder(folder, other));
  }
  files.sync_directory(folder);
  files.sync_directory(directory);
  return folder;
}

}  // namespace tessera::dist
