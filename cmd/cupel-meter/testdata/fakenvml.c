/* A libnvidia-ml.so.1 for tests, written from the documented interface. What it
 * says is driven by the environment:
 *
 *   FAKE_COUNT=N            GPUs, default 2
 *   FAKE_NAME, FAKE_DRIVER, FAKE_VBIOS, FAKE_ARCH, FAKE_CC=9.0
 *   FAKE_MEMORY=bytes       FAKE_POWER=mW      FAKE_CUDA=12080
 *   FAKE_UUID=text          the same for every GPU
 *   FAKE_MIG=1              FAKE_MIG_COUNT=N   partitioned, with N instances
 *   FAKE_PIDS=1,2           compute processes on every GPU
 *   FAKE_PROCESSES=N        that many are claimed, whatever the buffer holds
 *   FAKE_FAIL=name:code,... these functions return that code
 *   FAKE_LOST=index         this GPU has no handle
 *   FAKE_HANG=name          this function never returns
 *
 * Compiled with -DOLD it lacks the functions that drivers of years ago lacked.
 * With -DBARE it has nothing of NVML at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef int ret;
enum { OK = 0, INVALID = 2, UNSUPPORTED = 3, NOTFOUND = 6, SMALL = 7, LOST = 15 };

#ifdef BARE
int fake_nothing(void) { return 0; }
#else

static const char *text(const char *name, const char *otherwise) { const char *v = getenv(name); return v ? v : otherwise; }
static u64 number(const char *name, u64 otherwise) { const char *v = getenv(name); return v ? strtoull(v, 0, 0) : otherwise; }

static ret fails(const char *name) {
	const char *all = getenv("FAKE_FAIL"), *hang = getenv("FAKE_HANG");
	size_t n = strlen(name);
	if (hang && !strcmp(hang, name)) for (;;) pause();
	for (const char *p = all; p && *p; p = strchr(p, ','), p = p ? p + 1 : 0)
		if (!strncmp(p, name, n) && p[n] == ':') return atoi(p + n + 1);
	return OK;
}
#define MAYBE(name) do { ret r = fails(name); if (r) return r; } while (0)

static ret say(char *to, u32 size, const char *what) {
	if (strlen(what) + 1 > size) return SMALL;
	strcpy(to, what);
	return OK;
}

/* Handles are 1 + index; MIG instances 1000 * (1 + index) + their own index. */
typedef size_t dev;
static int slice(dev d) { return d >= 1000; }

ret nvmlInit_v2(void) { MAYBE("init"); return OK; }
ret nvmlInit(void) { return nvmlInit_v2(); }
ret nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(ret r) { (void)r; return "fake"; }
ret nvmlSystemGetDriverVersion(char *v, u32 n) { MAYBE("driver"); return say(v, n, text("FAKE_DRIVER", "570.86.10")); }
ret nvmlSystemGetNVMLVersion(char *v, u32 n) { MAYBE("nvml"); return say(v, n, "12.570.86.10"); }
ret nvmlDeviceGetCount_v2(u32 *n) { MAYBE("count"); *n = (u32)number("FAKE_COUNT", 2); return OK; }
ret nvmlDeviceGetCount(u32 *n) { return nvmlDeviceGetCount_v2(n); }
ret nvmlDeviceGetHandleByIndex_v2(u32 i, dev *d) {
	MAYBE("handle");
	if (getenv("FAKE_LOST") && i == number("FAKE_LOST", 0)) return LOST;
	*d = 1 + i;
	return OK;
}
ret nvmlDeviceGetHandleByIndex(u32 i, dev *d) { return nvmlDeviceGetHandleByIndex_v2(i, d); }

ret nvmlDeviceGetUUID(dev d, char *v, u32 n) {
	char s[96];
	MAYBE("uuid");
	if (getenv("FAKE_UUID")) return say(v, n, getenv("FAKE_UUID"));
	if (slice(d)) snprintf(s, sizeof s, "MIG-00000000-0000-0000-%04zx-%012zx", d / 1000, d % 1000);
	else snprintf(s, sizeof s, "GPU-00000000-0000-0000-0000-%012zx", d);
	return say(v, n, s);
}
ret nvmlDeviceGetName(dev d, char *v, u32 n) {
	char s[128];
	MAYBE("name");
	if (!slice(d)) return say(v, n, text("FAKE_NAME", "NVIDIA H200"));
	snprintf(s, sizeof s, "%s MIG 1g.18gb", text("FAKE_NAME", "NVIDIA H200"));
	return say(v, n, s);
}
ret nvmlDeviceGetVbiosVersion(dev d, char *v, u32 n) { (void)d; MAYBE("vbios"); return say(v, n, text("FAKE_VBIOS", "96.00.BC.00.01")); }

struct memory { u64 total, free, used; };
ret nvmlDeviceGetMemoryInfo(dev d, struct memory *m) {
	MAYBE("memory");
	m->total = number("FAKE_MEMORY", slice(d) ? 17179869184ULL : 150754820096ULL);
	m->free = m->total; m->used = 0;
	return OK;
}
struct pci { char legacy[16]; u32 domain, bus, device, id, sub; char bus_id[32]; };
ret nvmlDeviceGetPciInfo_v3(dev d, struct pci *p) {
	MAYBE("pci");
	memset(p, 0, sizeof *p);
	snprintf(p->bus_id, sizeof p->bus_id, "00000000:%02zX:00.0", 0x17 + d);
	return OK;
}
ret nvmlDeviceGetPciInfo(dev d, struct pci *p) { return nvmlDeviceGetPciInfo_v3(d, p); }
ret nvmlDeviceGetPowerManagementLimit(dev d, u32 *mw) { (void)d; MAYBE("power"); *mw = (u32)number("FAKE_POWER", 700000); return OK; }
ret nvmlDeviceGetPowerManagementDefaultLimit(dev d, u32 *mw) { (void)d; MAYBE("power-default"); *mw = 700000; return OK; }
ret nvmlDeviceGetPowerManagementLimitConstraints(dev d, u32 *lo, u32 *hi) { (void)d; MAYBE("power-range"); *lo = 200000; *hi = 700000; return OK; }
ret nvmlDeviceGetEnforcedPowerLimit(dev d, u32 *mw) { (void)d; MAYBE("power-enforced"); *mw = (u32)number("FAKE_POWER", 700000); return OK; }
ret nvmlDeviceGetPersistenceMode(dev d, u32 *on) { (void)d; MAYBE("persistence"); *on = 1; return OK; }
ret nvmlDeviceGetEccMode(dev d, u32 *now, u32 *then) { (void)d; MAYBE("ecc"); *now = *then = 1; return OK; }
ret nvmlDeviceGetMaxClockInfo(dev d, u32 kind, u32 *mhz) { (void)d; MAYBE("clock"); *mhz = kind == 2 ? 3201 : 1980; return OK; }

#ifndef OLD
ret nvmlSystemGetCudaDriverVersion_v2(int *v) { MAYBE("cuda"); *v = (int)number("FAKE_CUDA", 12080); return OK; }
ret nvmlSystemGetCudaDriverVersion(int *v) { return nvmlSystemGetCudaDriverVersion_v2(v); }
ret nvmlDeviceGetArchitecture(dev d, u32 *a) { (void)d; MAYBE("arch"); *a = (u32)number("FAKE_ARCH", 9); return OK; }
ret nvmlDeviceGetCudaComputeCapability(dev d, int *major, int *minor) {
	(void)d;
	MAYBE("cc");
	return sscanf(text("FAKE_CC", "9.0"), "%d.%d", major, minor) == 2 ? OK : INVALID;
}
ret nvmlDeviceGetMigMode(dev d, u32 *now, u32 *then) { (void)d; MAYBE("mig"); *now = *then = (u32)number("FAKE_MIG", 0); return OK; }
ret nvmlDeviceGetMaxMigDeviceCount(dev d, u32 *n) { (void)d; MAYBE("mig-count"); *n = (u32)number("FAKE_MIG_COUNT", 7); return OK; }
ret nvmlDeviceGetMigDeviceHandleByIndex(dev d, u32 i, dev *m) {
	MAYBE("mig-handle");
	if (i >= 2) return NOTFOUND; /* two of the seven are made */
	*m = 1000 * d + i;
	return OK;
}
ret nvmlDeviceGetApplicationsClock(dev d, u32 kind, u32 *mhz) { (void)d; MAYBE("app-clock"); *mhz = kind == 2 ? 3201 : 1980; return OK; }

struct process { u32 pid; u64 memory; u32 gi, ci; };
ret nvmlDeviceGetComputeRunningProcesses_v3(dev d, u32 *n, struct process *out) {
	u32 room = *n, have = 0;
	(void)d;
	MAYBE("processes");
	if (getenv("FAKE_PROCESSES")) { *n = (u32)number("FAKE_PROCESSES", 0); return OK; }
	for (const char *p = text("FAKE_PIDS", ""); *p; have++) {
		char *end;
		u32 pid = (u32)strtoul(p, &end, 10);
		if (have < room) out[have] = (struct process){pid, 1073741824ULL, 0xffffffff, 0xffffffff};
		p = *end ? end + 1 : end;
	}
	*n = have;
	return have > room ? SMALL : OK;
}
ret nvmlDeviceGetComputeRunningProcesses_v2(dev d, u32 *n, struct process *out) { return nvmlDeviceGetComputeRunningProcesses_v3(d, n, out); }
ret nvmlDeviceGetComputeRunningProcesses(dev d, u32 *n, void *out) { (void)d; (void)out; *n = 0; return OK; }
ret nvmlSystemGetProcessName(u32 pid, char *v, u32 n) {
	char s[64];
	MAYBE("process-name");
	snprintf(s, sizeof s, "/home/someone/bin/server-%u", pid);
	return say(v, n, s);
}
#endif
#endif
