import sys


def fail(why):
    print("jobman: " + why)
    sys.exit(1)


try:
    import jax
except ModuleNotFoundError as error:
    if error.name != "jax":
        fail("JAX cannot be imported: %s" % error)
    print("jobman: JAX is not there: its devices are not counted")
    sys.exit(0)
except ImportError as error:
    fail("JAX cannot be imported: %s" % error)
try:
    backend = jax.default_backend()
    here, total = jax.local_device_count(), jax.device_count()
except RuntimeError as error:
    fail("JAX does not start: %s (does another process hold the chips?)" % error)
if backend != "tpu":
    fail("JAX runs on %s, not on the TPU: is jax[tpu] installed, and does libtpu start?" % backend)
if here != HERE:
    fail("JAX sees %d of the %d devices of this host" % (here, HERE))
if SLICES == 1 and total != ALL:
    fail("JAX sees %d of the %d devices of the slice" % (total, ALL))
print("jobman: JAX sees %d devices, %d of them here" % (total, here))
