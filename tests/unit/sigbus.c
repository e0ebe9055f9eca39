/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SIGBUS becomes an error or is resolved within a guard, and kills outside of one. */
#include "sys/sigbus.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "tap.h"

enum { NR_PAGES = 4, NR_THREADS = 4, NR_REPEATS = 500 };

/* A file that ends after @nr_pages pages, mapped beyond its end. */
struct file {
	int fd;
	char *map;
	unsigned nr_pages; /* in the file now */
	unsigned nr_resolved;
	int error; /* errno after an access whose fault was resolved */
};

static void file_open(struct file *file, unsigned nr_pages)
{
	*file = (struct file){ .fd = memfd_create("sigbus", MFD_CLOEXEC),
			       .nr_pages = nr_pages };
	if (file->fd < 0 || ftruncate(file->fd, (off_t)(nr_pages * PAGE_SIZE)))
		bail("no file in memory");
	file->map = mmap(NULL, NR_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 file->fd, 0);
	if (file->map == MAP_FAILED)
		bail("no mapping");
}

static void file_close(struct file *file)
{
	munmap(file->map, NR_PAGES * PAGE_SIZE);
	close(file->fd);
}

static int return_7(void *arg)
{
	return 7;
}

static int store_all(void *arg)
{
	struct file *file = arg;

	errno = ENOTTY;
	for (unsigned i = 0; i < NR_PAGES; i++)
		file->map[i * PAGE_SIZE + 5] = (char)(i + 1);
	file->error = errno;
	return 0;
}

/* Makes the file as long as the access wants it. */
static bool lengthen(void *arg, uintptr_t address)
{
	struct file *file = arg;

	file->nr_pages = (unsigned)((address - (uintptr_t)file->map) / PAGE_SIZE) + 1;
	file->nr_resolved++;
	errno = EXDEV;
	return !ftruncate(file->fd, (off_t)(file->nr_pages * PAGE_SIZE));
}

static bool decline(void *arg, uintptr_t address)
{
	struct file *file = arg;

	file->nr_resolved++;
	return false;
}

/* Meets the same trouble as what it should resolve. */
static bool stumble(void *arg, uintptr_t address)
{
	struct file *file = arg;

	file->nr_resolved++;
	file->map[(NR_PAGES - 1) * PAGE_SIZE] = 1;
	return true;
}

static void errors(void)
{
	struct sigbus_guard guard = { 0 };
	struct file file;
	bool all = true;

	ok(sigbus_run(&guard, return_7, NULL) == 7,
	   "what raises nothing returns as ever");
	file_open(&file, 2);
	ok(sigbus_run(&guard, store_all, &file) == -EFAULT,
	   "a store beyond the end of the file is an error");
	ok(guard.address == (uintptr_t)file.map + 2 * PAGE_SIZE + 5, "with its address");
	ok(guard.code == BUS_ADRERR, "and its code");
	ok(file.map[5] == 1 && file.map[PAGE_SIZE + 5] == 2,
	   "what came before it is done");
	ok(sigbus_run(&guard, return_7, NULL) == 7, "the guard serves again");
	for (unsigned i = 0; i < NR_REPEATS; i++)
		all = all && sigbus_run(&guard, store_all, &file) == -EFAULT;
	ok(all, "%d errors one after the other", NR_REPEATS);
	file_close(&file);
}

static void resolved(void)
{
	struct file file;
	struct sigbus_guard guard = { .resolve = lengthen, .arg = &file };
	bool all = true;

	file_open(&file, 1);
	ok(!sigbus_run(&guard, store_all, &file), "what is resolved is no error");
	ok(file.nr_resolved == NR_PAGES - 1, "once a page (%u)", file.nr_resolved);
	for (unsigned i = 0; i < NR_PAGES; i++)
		all = all && file.map[i * PAGE_SIZE + 5] == (char)(i + 1);
	ok(all, "and each access is made");
	ok(file.error == ENOTTY, "errno stays what it was");
	file_close(&file);

	file_open(&file, 1);
	guard.resolve = decline;
	ok(sigbus_run(&guard, store_all, &file) == -EFAULT && file.nr_resolved == 1,
	   "what resolve() declines is an error");
	file.nr_resolved = 0;
	guard.resolve = stumble;
	ok(sigbus_run(&guard, store_all, &file) == -EFAULT && file.nr_resolved == 1,
	   "resolve() that raises SIGBUS itself runs once and fails");
	guard.resolve = lengthen;
	ok(!sigbus_run(&guard, store_all, &file), "and the next one resolves again");
	file_close(&file);
}

static void *many_errors(void *arg)
{
	bool *all = arg;
	struct file file;
	struct sigbus_guard guard = { .arg = &file };

	*all = true;
	for (unsigned i = 0; i < NR_REPEATS; i++) {
		file_open(&file, 1);
		guard.resolve = NULL;
		*all = *all && sigbus_run(&guard, store_all, &file) == -EFAULT &&
		       guard.address == (uintptr_t)file.map + PAGE_SIZE + 5;
		guard.resolve = lengthen;
		*all = *all && !sigbus_run(&guard, store_all, &file) &&
		       file.nr_resolved == NR_PAGES - 1;
		file_close(&file);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t ids[NR_THREADS];
	bool all[NR_THREADS] = { false };

	for (unsigned i = 0; i < NR_THREADS; i++) {
		if (pthread_create(&ids[i], NULL, many_errors, &all[i]))
			bail("no thread");
	}
	for (unsigned i = 0; i < NR_THREADS; i++) {
		pthread_join(ids[i], NULL);
		ok(all[i], "thread %u has its own guard", i);
	}
}

/* The signal that ends a child which runs @fn; 0: it lived. */
static int killed_by(void (*fn)(struct file *file))
{
	struct rlimit none = { 0 };
	struct file file;
	int status;
	pid_t pid;

	file_open(&file, 1);
	pid = fork();
	if (pid < 0)
		bail("no child");
	if (!pid) {
		prctl(PR_SET_DUMPABLE, 0);
		setrlimit(RLIMIT_CORE, &none);
		alarm(20);
		fn(&file);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		bail("cannot wait");
	file_close(&file);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void outside(struct file *file)
{
	store_all(file);
}

static void outside_after_error(struct file *file)
{
	struct sigbus_guard guard = { 0 };

	sigbus_run(&guard, store_all, file);
	store_all(file);
}

static void outside_after_success(struct file *file)
{
	struct sigbus_guard guard = { .resolve = lengthen, .arg = file };

	sigbus_run(&guard, return_7, NULL);
	store_all(file);
}

static void *outside_thread(void *arg)
{
	store_all(arg);
	return NULL;
}

static int start_outside_thread(void *arg)
{
	pthread_t id;

	if (!pthread_create(&id, NULL, outside_thread, arg))
		pthread_join(id, NULL);
	return 0;
}

static void other_thread(struct file *file)
{
	struct sigbus_guard guard = { .resolve = lengthen, .arg = file };

	sigbus_run(&guard, start_outside_thread, file);
}

static void sent(struct file *file)
{
	kill(getpid(), SIGBUS);
	usleep(100000);
}

static int send_self(void *arg)
{
	sent(arg);
	return 0;
}

static void sent_inside(struct file *file)
{
	struct sigbus_guard guard = { .resolve = lengthen, .arg = file };

	sigbus_run(&guard, send_self, file);
}

static void inside(struct file *file)
{
	struct sigbus_guard guard = { 0 };

	if (sigbus_run(&guard, store_all, file) != -EFAULT)
		raise(SIGUSR1);
}

static void kills(void)
{
	ok(killed_by(outside) == SIGBUS, "outside of a guard it kills");
	ok(killed_by(outside_after_error) == SIGBUS, "also after an error");
	ok(killed_by(outside_after_success) == SIGBUS, "also after a success");
	ok(killed_by(other_thread) == SIGBUS,
	   "also in a thread that another's guard started");
	ok(killed_by(sent) == SIGBUS, "one that was sent kills");
	ok(killed_by(sent_inside) == SIGBUS, "also inside of a guard");
	ok(killed_by(inside) == 0, "a child inherits the handler");
}

int main(void)
{
	struct reason why = { "" };

	ok(!sigbus_install(&why) && !sigbus_install(NULL), "installed twice %s",
	   why.text);
	errors();
	resolved();
	threads();
	kills();
	return done();
}
