# The C++ blocks (```cpp) of the documents given, as one translation unit. Each block is a namespace of its own: a block that
# defines a function or a type stands there as it is, any other is the body of a function. What blocks use and do not
# declare is in preamble.hpp. Errors are reported by document and line.
#   awk -v mpi=0 -f blocks.awk document...     mpi=1: those with <kernelet/mpi.hpp>, and no others
function finish() {
    if ((code ~ /kernelet\/mpi\.hpp/) != mpi) return
    includes = includes heads
    ++count
    where = sprintf("#line %d \"%s\"\n", first, document)
    if (defines)
        bodies = bodies sprintf("namespace block_%d {\nusing namespace given;\n%s%s}\n", count, where, code)
    else
        bodies = bodies sprintf("namespace block_%d {\nusing namespace given;\nvoid statements() {\n%s%s}\n}\n", count, where, code)
}
FNR == 1 { if (inside) { print FILENAME ": the block before is not closed" >"/dev/stderr"; failed = 1; exit 1 } }
!inside && /^ *```cpp *$/ { inside = 1; code = ""; heads = ""; defines = 0; first = FNR + 1; document = FILENAME; next }
inside && /^ *```/ { inside = 0; finish(); next }
!inside { next }
/^#include/ { heads = heads $0 "\n"; code = code "// " $0 "\n"; next }
{
    if (/^(struct|class|template|enum|namespace|static_assert|int main|[a-z_:]+ [a-z_]+\(.*\) *\{)/) defines = 1
    code = code $0 "\n"
}
END {
    if (failed) exit 1
    if (inside) { print document ": a block is not closed" >"/dev/stderr"; exit 1 }
    if (count == 0) { print "no blocks" >"/dev/stderr"; exit 1 }
    printf "%s#include \"preamble.hpp\"\n%s", includes, bodies
    print count " blocks" >"/dev/stderr"
}
