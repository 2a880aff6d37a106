package hardware

// Codes of reasons.
const (
	NoMeter        = "no-meter"
	MeterFailed    = "meter-failed"
	NotLocal       = "not-local"
	NoGPU          = "no-gpu"
	Embedded       = "embedded-engine"
	NoNVML         = "no-nvml"
	NoCgo          = "no-cgo"
	OtherPlatform  = "other-platform"
	NotNVML        = "not-nvml"
	MissingSymbol  = "missing-symbol"
	NotSupported   = "not-supported"
	NoPermission   = "no-permission"
	DriverMissing  = "driver-not-loaded"
	DriverMismatch = "driver-mismatch"
	GPULost        = "gpu-lost"
	Timeout        = "timeout"
	Implausible    = "implausible"
	NVMLError      = "nvml-error"
	NotReadable    = "not-readable"
	NotApplicable  = "not-applicable"
	NotSaid        = "not-said"
)

// Reasons is the one table of reasons; docs/hardware.md repeats it.
var Reasons = []struct{ Code, Means string }{
	{NoMeter, "there is no cupel-meter next to cupel or on the PATH"},
	{MeterFailed, "cupel-meter ended in an error, or said something that is not a report"},
	{NotLocal, "the endpoint is not on this machine, and no file says what it runs on"},
	{NoGPU, "the machine has no GPU that the meter can read"},
	{Embedded, "the demonstration engine runs on the CPU of whoever runs cupel"},
	{NoNVML, "there is no libnvidia-ml.so.1"},
	{NoCgo, "this cupel-meter was built without cgo and cannot load NVML"},
	{OtherPlatform, "GPUs of this system or vendor are not read"},
	{NotNVML, "the library that was loaded is not NVML"},
	{MissingSymbol, "this NVML is too old, or too new, to have the function"},
	{NotSupported, "the GPU does not have this"},
	{NoPermission, "the driver does not tell this user"},
	{DriverMissing, "the NVIDIA driver is not loaded"},
	{DriverMismatch, "the library and the loaded driver are of different versions; a reboot is due"},
	{GPULost, "the GPU has fallen off the bus"},
	{Timeout, "the driver did not answer in time"},
	{Implausible, "the driver said something that cannot be true"},
	{NVMLError, "NVML returned another error"},
	{NotReadable, "the system does not show it"},
	{NotApplicable, "it has no meaning here"},
	{NotSaid, "the report has no value and no reason"},
}

// Means explains a code; an unknown code stands for itself.
func Means(code string) string {
	for _, r := range Reasons {
		if r.Code == code {
			return r.Means
		}
	}
	return code
}
