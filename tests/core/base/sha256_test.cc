#include "core/base/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"

namespace rlgo {
namespace {

std::string digest(const std::string& text) {
  Sha256 hash;
  hash.add(text);
  return hash.digest();
}

// FIPS 180-4's examples; of 56 bytes the length needs a block of its own.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PartsAreTheWhole) {
  Sha256 hash;
  for (int k = 0; k < 1000; ++k) hash.add(std::string(1000, 'a'));
  EXPECT_EQ(hash.digest(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfFiles) {
  const TemporaryFolder folder("rlgo-sha");
  std::ofstream(folder.path() / "a") << "abc";
  EXPECT_EQ(sha256_of(folder.path() / "a"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THROW(sha256_of(folder.path() / "b"), Error);
}

}  // namespace
}  // namespace rlgo
