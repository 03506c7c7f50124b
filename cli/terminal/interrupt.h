/* interrupt.h - SIGINT and SIGTERM cancel the tasks in progress; the second one kills.
 *
 * A task stays its owner's, who leaves before freeing it.
 */
#ifndef CLI_TERMINAL_INTERRUPT_H
#define CLI_TERMINAL_INTERRUPT_H

#include <isoproof/base.h>

/* Installs the handlers, and ignores SIGPIPE so that a closed pipe is a write error. */
void interrupt_install(void);
bool interrupted(void);
/* A task with the handler's knowledge; NULL when memory is out. */
isoproof_task *interrupt_task_new(void);
/* A task that knows nothing of the signal that came: for what is still worth doing after it.  The next one kills. */
isoproof_task *interrupt_task_after(void);
void interrupt_task_free(isoproof_task *task);

#endif
