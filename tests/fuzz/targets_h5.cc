#include <hdf5.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "learner/checkpoint.h"
#include "replay/checksum.h"
#include "replay/part.h"
#include "replay/reader.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"
#include "tests/replay/store.h"

namespace rlgo::fuzz {
namespace {

namespace fs = std::filesystem;

// A file of this process alone, gone with the object.
class Temporary {
 public:
  Temporary() : path_(fs::temp_directory_path() / fmt::format("rlgo-fuzz-{}.h5", ::getpid())) {}
  ~Temporary() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

herr_t add_name(hid_t, const char* name, const H5O_info_t* info, void* names) {
  if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}
herr_t add_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

hid_t odd_type(Rng& rng) {
  const auto types = std::to_array<hid_t>({H5T_STD_I8LE, H5T_STD_U8LE, H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U64LE,
                                           H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I64BE, H5T_C_S1});
  return types[pick(rng, types.size())];
}

// Of rank 0 to 3, perhaps absurdly large.
hid_t odd_space(Rng& rng, bool small) {
  std::vector<hsize_t> dims(pick(rng, 4));
  for (auto& dim : dims) {
    const auto number = odd_number(rng);
    dim = small || number < 0 ? rng.below(20) : static_cast<hsize_t>(number);
  }
  return dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
}

// Another dataset, without contents, in the place of one.
void replace_dataset(hid_t file, const std::string& name, Rng& rng) {
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  if (one_in(rng, 6)) return;
  const hid_t space = odd_space(rng, false), list = H5Pcreate(H5P_DATASET_CREATE);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank > 0) {
    const std::vector<hsize_t> chunk(static_cast<size_t>(rank), 4);
    H5Pset_chunk(list, rank, chunk.data());
  }
  const hid_t made = H5Dcreate2(file, name.c_str(), odd_type(rng), space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (made >= 0) H5Dclose(made);
  H5Pclose(list);
  H5Sclose(space);
}

// Some numbers of a dataset.
void change_numbers(hid_t file, const std::string& name, Rng& rng) {
  const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  if (set < 0) return;
  const hid_t space = H5Dget_space(set), type = H5Dget_type(set);
  const auto count = H5Sget_simple_extent_npoints(space);
  if (H5Tget_class(type) == H5T_INTEGER && count > 0 && count < 1 << 16) {
    std::vector<int64_t> values(static_cast<size_t>(count));
    H5Dread(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    for (size_t k = 1 + pick(rng, 3); k > 0; --k) values[pick(rng, values.size())] = odd_number(rng);
    H5Dwrite(set, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
}

void replace_attribute(hid_t file, const std::string& name, Rng& rng) {
  H5Adelete(file, name.c_str());
  if (one_in(rng, 6)) return;
  const hid_t space = one_in(rng, 2) ? H5Screate(H5S_SCALAR) : odd_space(rng, true);
  hid_t type = H5Tcopy(odd_type(rng));
  if (H5Tget_class(type) == H5T_STRING) H5Tset_size(type, one_in(rng, 3) ? H5T_VARIABLE : 1 + pick(rng, 64));
  const hid_t made = H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (made >= 0 && H5Tget_class(type) == H5T_INTEGER) {
    std::vector<int64_t> values(8000, odd_number(rng));
    H5Awrite(made, H5T_NATIVE_INT64, values.data());
  }
  if (made >= 0) H5Aclose(made);
  H5Tclose(type);
  H5Sclose(space);
}

void edit(const fs::path& path, Rng& rng) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) return;
  std::vector<std::string> sets, attributes;
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, add_name, &sets);
  hsize_t from = 0;
  H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, &from, add_attribute, &attributes);
  for (size_t k = 1 + pick(rng, 3); k > 0; --k) {
    if (one_in(rng, 4) && !attributes.empty()) {
      replace_attribute(file, attributes[pick(rng, attributes.size())], rng);
    } else if (one_in(rng, 3) && !sets.empty()) {
      replace_dataset(file, sets[pick(rng, sets.size())], rng);
    } else if (!sets.empty()) {
      change_numbers(file, sets[pick(rng, sets.size())], rng);
    }
  }
  H5Fclose(file);
}

// Bytes, or datasets and attributes, changed; the checksum fits again in most cases: it is no secret.
std::string mutate_h5(const Corpus& corpus, Rng& rng, std::string_view kind) {
  if (one_in(rng, 20)) return mutate_bytes(corpus, rng);
  const std::string& seed = corpus[pick(rng, corpus.size())];
  std::string bytes;
  if (one_in(rng, 3)) {
    bytes = seed.substr(0, replay::kChecksumBytes) + change_bytes(seed.substr(replay::kChecksumBytes), corpus, rng);
  } else {
    const Temporary file;
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::ofstream(file.path(), std::ios::binary) << seed;
    edit(file.path(), rng);
    bytes = read_file(file.path());
  }
  if (bytes.size() >= replay::kChecksumBytes) replay::add_checksum(bytes, kind);
  return bytes;
}

Target parts_target() {
  return {"rollout-part",
          [] {
            const Temporary file;
            Corpus seeds;
            for (const int episodes : {1, 4}) {
              replay::PartWriter writer("seed", replay::make_header(), 4);
              for (int64_t k = 0; k < episodes; ++k)
                writer.add(replay::make_trajectory(replay::make_spec(), k, static_cast<int>(2 + k), 4));
              writer.save(file.path());
              seeds.push_back(read_file(file.path()));
            }
            return seeds;
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_h5(corpus, rng, replay::kPartKind); },
          [](const std::string& input, const fs::path& folder) {
            std::ofstream(folder / "part-00000.h5", std::ios::binary) << input;
            replay::RolloutReader reader(folder / "part-00000.h5");
            while (reader.next()) {
            }
            reader.part().facts();
          },
          2000};
}

Target checkpoint_target() {
  return {"checkpoint",
          [] {
            const Temporary file;
            learner::Checkpoint checkpoint;
            checkpoint.tensors["w"] = {"float32", {2, 3}, std::string(24, '\1')};
            checkpoint.tensors["s"] = {"int64", {}, std::string(8, '\0')};
            checkpoint.texts["config"] = "epochs = 3\n";
            checkpoint.counters["epoch"] = 7;
            checkpoint.numbers["score"] = 0.5;
            checkpoint.streams["learner"] = {1, 2, 3, 4};
            learner::save(checkpoint, file.path());
            return Corpus{read_file(file.path())};
          },
          [](const Corpus& corpus, Rng& rng) { return mutate_h5(corpus, rng, "checkpoint"); },
          [](const std::string& input, const fs::path& folder) {
            const fs::path path = folder / "checkpoint-00000001.h5";
            std::ofstream(path, std::ios::binary) << input;
            learner::load(path);
          },
          2000};
}

}  // namespace

std::vector<Target> h5_targets() { return {parts_target(), checkpoint_target()}; }

}  // namespace rlgo::fuzz
