import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

required_conan_version = ">=2.0"


class KerneletConan(ConanFile):
    name = "kernelet"
    version = "0.2.0"
    description = "Sparse kernel models, each kernel with its own center and width"
    license = "MIT"
    topics = ("machine-learning", "kernel-methods", "regression", "eigen", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {"header_only": [True, False]}  # False: with the archive of compiled mode
    default_options = {"header_only": True}

    # The sources are those of the repository that this folder lies in.
    _root = os.path.join("..", "..", "..")

    def export_sources(self):
        root = os.path.normpath(os.path.join(self.recipe_folder, self._root))
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*.cmake", "cmake/*.in", "include/*", "src/*"):
            copy(self, pattern, root, self.export_sources_folder, excludes="cmake/packaging/*")

    def configure(self):
        self.package_type = "header-library" if self.options.header_only else "static-library"

    def layout(self):
        self.folders.root = self._root  # counts outside Conan's cache only
        cmake_layout(self)

    def requirements(self):
        self.requires("eigen/[>=3.4 <6]", transitive_headers=True)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.24]")

    def package_id(self):
        if self.info.options.header_only:
            self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"KERNELET_BUILD_{part}"] = False
        toolchain.cache_variables["KERNELET_BUILD_COMPILED"] = not self.options.header_only
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # CMakeDeps and PkgConfigDeps write these for the packages at hand. What stays of the CMake package is its
        # folder src, which kernelet_add_compiled() compiles.
        modules = os.path.join(self.package_folder, "share", "cmake", "kernelet")
        for name in os.listdir(modules):
            if name != "src":
                os.remove(os.path.join(modules, name))
        for folder in (("share", "pkgconfig"), ("share", "doc"), ("lib", "cmake")):
            rmdir(self, os.path.join(self.package_folder, *folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "kernelet")
        self.cpp_info.set_property("cmake_target_name", "kernelet::kernelet")
        self.cpp_info.set_property("pkg_config_name", "kernelet")
        self.cpp_info.bindirs = []
        if self.options.header_only:
            self.cpp_info.libdirs = []
            sources = os.path.join("share", "cmake", "kernelet", "src")
            self.cpp_info.set_property("cmake_build_modules", [os.path.join(sources, "compiled.cmake"),
                                                               os.path.join(sources, "mpi.cmake")])
        else:
            self.cpp_info.set_property("cmake_target_aliases", ["kernelet::compiled"])
            self.cpp_info.libs = ["kernelet_compiled"]
            self.cpp_info.defines = ["KERNELET_COMPILED"]
