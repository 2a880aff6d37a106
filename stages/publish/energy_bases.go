package publish

// covers says what the number of each base has in it, and what it has not.
var covers = map[string]string{
	"nv.gpu":                        "the boards of the GPUs as NVML counts them, their memory included; the CPUs and memory of the host, fans, disks, network and losses of the power supply are not in it",
	"nv.module":                     "GPU, CPU and memory of each module in one counter; the rest of the machine and losses of the power supply are not in it",
	"nv.gpu+rapl.package+rapl.dram": "the boards of the GPUs, the CPU packages and the memory beside them; fans, disks, network and losses of the power supply are not in it",
	"nv.gpu+rapl.package":           "the boards of the GPUs and the CPU packages; the host's memory, fans, disks, network and losses of the power supply are not in it",
	"rapl.package+rapl.dram":        "the CPU packages and the memory beside them; GPUs, fans, disks, network and losses of the power supply are not in it",
	"rapl.package":                  "the CPU packages; memory, GPUs, fans, disks, network and losses of the power supply are not in it",
	"amd.gpu":                       "the GPUs as their driver counts them; the CPUs and memory of the host, fans, disks, network and losses of the power supply are not in it",
	"apple.soc5":                    "GPU, CPU, neural engine, memory and its controller as the system models them; display, SSD, fans, fabric and losses of the power supply are not in it, so that a meter at the wall reads more",
	"apple.gpu":                     "the GPU alone as the system models it; everything else of the machine is not in it",
	"wall":                          "what a meter at the wall reads: all that hangs on it, losses of the power supply included",
}
