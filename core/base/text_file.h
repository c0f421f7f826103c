// Text that people wrote, with whatever editor: rules, configuration, profiles, traces, tables.
#pragma once

#include <filesystem>
#include <string>

namespace rlgo {

// What a file states, in UTF-8 with line ends "\n": without the byte order mark that some editors put in front, "\r\n"
// as
// "\n". Throws Error as read_file() does, and where the file is UTF-16 or UTF-32 (by its mark).
std::string read_text(const std::filesystem::path& path);
// The same of bytes that were read; `name` stands in errors.
std::string plain_text(std::string bytes, const std::string& name);

}  // namespace rlgo
