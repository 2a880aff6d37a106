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
 * Power is a square wave, and energy its exact integral, in steps. Times are of the
 * wall clock with FAKE_CLOCK=real, so that a test can know every step of every
 * counter, else of the monotonic one.
 *
 *   FAKE_IDLE_MW, FAKE_BUSY_MW   75000 and 450000; of GPU i more by i * FAKE_STEP_MW
 *   FAKE_WAVE_MS=N          busy in the first half of every N ms; 0 = always busy
 *   FAKE_PUBLISH_MS=N       how often the counters of energy change, default 100
 *   FAKE_ENERGY=frozen      they never change
 *   FAKE_ENERGY=reset:N     N ms after the start they begin again at 0
 *   FAKE_ENERGY=backwards:N they fall by 50 J then
 *   FAKE_SCOPES=module,memory,apart   fields of these scopes are there; the module
 *                           draws 100 W more and the memory a tenth. apart: field 191
 *                           counts the GPU of a module alone
 *   FAKE_FIELDS=186:3,191.1:15,...    these fields (and scopes) return that code
 *   FAKE_ONE_BY_ONE=1       a call for several fields fails if one is above 200
 *   FAKE_SKIP=186           this field's entry is left as it was
 *   FAKE_TYPE=N             type of all fields' values, nvmlValueType_t
 *   FAKE_SW_THERMAL, FAKE_HW_THERMAL, FAKE_BRAKE, FAKE_CAP=percent   of time that the
 *                           clocks are held down
 *   FAKE_TEMP=C, FAKE_DRAWN=mW        instead of the wave's
 *   FAKE_PIDS_AFTER_MS=N    FAKE_PIDS appear so long after the start
 *   FAKE_POWER_AFTER=mW:N   another limit, N ms after the start
 *   FAKE_DROP=i:N           GPU i is lost N ms after the start
 *   FAKE_STALL_MS=N         the first question for fields after N ms never returns
 *
 * Compiled with -DOLD it lacks the functions that drivers of years ago lacked, with
 * -DNOFIELDS nvmlDeviceGetFieldValues, with -DNOENERGY the function of energy. With
 * -DBARE it has nothing of NVML at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

/* Milliseconds of the clock, and since the library was loaded. */
static u64 clock_us(int real) {
	struct timespec t;
	clock_gettime(real ? CLOCK_REALTIME : CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* What is asked often is read from the environment once. */
static struct {
	int real, frozen, type;
	u64 began_us, idle, busy, step, wave, publish, reset, backwards, temp, drawn, stall;
	u64 software, hardware, brake, cap; /* percent */
	const char *fields, *scopes, *skip;
	long drop; u64 drop_after;
} knob;

static u64 after(const char *kind) {
	const char *v = text("FAKE_ENERGY", "");
	size_t n = strlen(kind);
	return !strncmp(v, kind, n) && v[n] == ':' ? strtoull(v + n + 1, 0, 10) + 1 : 0;
}

__attribute__((constructor)) static void knobs(void) {
	const char *drop = getenv("FAKE_DROP");
	knob.real = !strcmp(text("FAKE_CLOCK", ""), "real");
	knob.began_us = clock_us(0);
	knob.idle = number("FAKE_IDLE_MW", 75000);
	knob.busy = number("FAKE_BUSY_MW", 450000);
	knob.step = number("FAKE_STEP_MW", 0);
	knob.wave = number("FAKE_WAVE_MS", 0);
	knob.publish = number("FAKE_PUBLISH_MS", 100);
	knob.frozen = !strcmp(text("FAKE_ENERGY", ""), "frozen");
	knob.reset = after("reset");
	knob.backwards = after("backwards");
	knob.temp = number("FAKE_TEMP", 45);
	knob.drawn = number("FAKE_DRAWN", ~0ULL);
	knob.software = number("FAKE_SW_THERMAL", 0);
	knob.hardware = number("FAKE_HW_THERMAL", 0);
	knob.brake = number("FAKE_BRAKE", 0);
	knob.cap = number("FAKE_CAP", 0);
	knob.fields = text("FAKE_FIELDS", "");
	knob.scopes = text("FAKE_SCOPES", "");
	knob.skip = text("FAKE_SKIP", "");
	knob.type = (int)number("FAKE_TYPE", 99);
	knob.stall = number("FAKE_STALL_MS", ~0ULL);
	knob.drop = -1;
	if (drop) { knob.drop = atol(drop); knob.drop_after = strtoull(strchr(drop, ':') + 1, 0, 10); }
}

static u64 age_ms(void) { return (clock_us(0) - knob.began_us) / 1000; }
static int dropped(dev d) { return knob.drop >= 0 && d == (dev)knob.drop + 1 && age_ms() >= knob.drop_after; }

/* Power of GPU d at a moment in ms, and its integral from 0 to there in uJ. */
static u64 watts(dev d, u64 ms) {
	u64 more = (d - 1) * knob.step;
	return more + (knob.wave && ms % knob.wave >= knob.wave / 2 ? knob.idle : knob.busy);
}
static u64 integral(dev d, u64 ms) {
	u64 more = (d - 1) * knob.step, half = knob.wave / 2, rest;
	if (!knob.wave) return ms * (knob.busy + more);
	rest = ms % knob.wave;
	return ms * more + ms / knob.wave * (half * knob.busy + (knob.wave - half) * knob.idle) +
		(rest < half ? rest * knob.busy : half * knob.busy + (rest - half) * knob.idle);
}

enum { GPU, MODULE, MEMORY };
static u64 scoped(u64 mw, u64 per_module, u32 scope) { return scope == MODULE ? mw + per_module : scope == MEMORY ? mw / 10 : mw; }

/* A counter in mJ, as it was last published. */
__attribute__((unused)) static u64 counter(dev d, u32 scope) {
	u64 ms = clock_us(knob.real) / 1000, start = (knob.real ? ms - age_ms() : knob.began_us / 1000), mj;
	if (knob.frozen) return 123456789;
	ms -= ms % knob.publish;
	mj = scoped(integral(d, ms), ms * 100000, scope) / 1000;
	if (knob.reset && ms >= start + knob.reset - 1) {
		u64 at = start + knob.reset - 1;
		return mj - scoped(integral(d, at), at * 100000, scope) / 1000;
	}
	if (knob.backwards && ms >= start + knob.backwards - 1) mj -= 50000;
	return mj;
}

__attribute__((unused)) static u64 power_now(dev d, u32 scope) {
	if (knob.drawn != ~0ULL) return knob.drawn;
	return scoped(watts(d, clock_us(knob.real) / 1000), 100000, scope);
}
/* The mean of the last second. */
static u64 power_average(dev d, u32 scope) {
	u64 ms = clock_us(knob.real) / 1000;
	if (knob.drawn != ~0ULL) return knob.drawn;
	return scoped((integral(d, ms) - integral(d, ms - 1000)) / 1000, 100000, scope);
}

ret nvmlDeviceGetPowerUsage(dev d, u32 *mw) { MAYBE("power-usage"); if (dropped(d)) return LOST; *mw = (u32)power_average(d, GPU); return OK; }
ret nvmlDeviceGetTemperature(dev d, u32 sensor, u32 *c) { (void)sensor; MAYBE("temperature"); if (dropped(d)) return LOST; *c = (u32)knob.temp; return OK; }

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
ret nvmlDeviceGetEnforcedPowerLimit(dev d, u32 *mw) {
	const char *then = getenv("FAKE_POWER_AFTER");
	MAYBE("power-enforced");
	if (dropped(d)) return LOST;
	*mw = (u32)number("FAKE_POWER", 700000);
	if (then && age_ms() >= strtoull(strchr(then, ':') + 1, 0, 10)) *mw = (u32)strtoul(then, 0, 10);
	return OK;
}
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
	if (age_ms() < number("FAKE_PIDS_AFTER_MS", 0)) { *n = 0; return OK; }
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

#ifndef NOENERGY
ret nvmlDeviceGetTotalEnergyConsumption(dev d, u64 *mj) {
	MAYBE("energy");
	if (dropped(d)) return LOST;
	*mj = counter(d, strstr(text("FAKE_NAME", ""), "GH200") ? MODULE : GPU);
	return OK;
}
#endif

#ifndef NOFIELDS
union value { double d; u32 ui; unsigned long ul; u64 ull; long long sll; int si; unsigned short us; };
struct field { u32 id, scope; long long stamp, latency; u32 type; ret code; union value v; };

/* The code that FAKE_FIELDS has for a field. */
static ret refused(u32 id, u32 scope) {
	for (const char *p = knob.fields; p && *p; p = strchr(p, ','), p = p ? p + 1 : 0) {
		char *end;
		u32 of = (u32)strtoul(p, &end, 10), in = 0;
		if (*end == '.') in = (u32)strtoul(end + 1, &end, 10);
		if (of == id && in == scope && *end == ':') return atoi(end + 1);
	}
	return OK;
}

static void set(struct field *f, u64 n, u32 type) {
	f->type = knob.type == 99 ? type : (u32)knob.type;
	memset(&f->v, 0, sizeof f->v);
	switch (f->type) {
	case 0: f->v.d = (double)n; break;
	case 1: f->v.ui = (u32)n; break;
	case 5: f->v.si = (int)n; break;
	case 6: f->v.us = (unsigned short)n; break;
	default: f->v.ull = n;
	}
}

static ret answer(dev d, struct field *f) {
	u64 ns = age_ms() * 1000000;
	ret r = refused(f->id, f->scope);
	if (r) return r;
	if (f->scope > MEMORY) return INVALID;
	if (f->scope == MODULE && !strstr(knob.scopes, "module")) return UNSUPPORTED;
	if (f->scope == MEMORY && !strstr(knob.scopes, "memory")) return UNSUPPORTED;
	switch (f->id) {
	case 186: set(f, power_now(d, f->scope), 1); return OK;
	case 185: set(f, power_average(d, f->scope), 1); return OK;
	case 83: case 191:
		if (f->scope == GPU && strstr(knob.scopes, "module") && !strstr(knob.scopes, "apart")) set(f, counter(d, MODULE), 3);
		else set(f, counter(d, f->scope), 3);
		return OK;
	case 74: set(f, ns / 100 * knob.cap, 3); return OK;
	case 269: set(f, ns / 100 * knob.software, 3); return OK;
	case 270: set(f, ns / 100 * knob.hardware, 3); return OK;
	case 271: set(f, ns / 100 * knob.brake, 3); return OK;
	default: return INVALID;
	}
}

ret nvmlDeviceGetFieldValues(dev d, int n, struct field *f) {
	MAYBE("fields");
	if (dropped(d)) return LOST;
	if (age_ms() >= knob.stall) for (;;) pause();
	if (getenv("FAKE_ONE_BY_ONE") && n > 1) /* a field that is not known spoils the call */
		for (int i = 0; i < n; i++) if (f[i].id > 200) return INVALID;
	for (int i = 0; i < n; i++)
		if (!*knob.skip || f[i].id != (u32)atoi(knob.skip)) f[i].code = answer(d, &f[i]);
	return OK;
}
#endif
#endif
#endif
