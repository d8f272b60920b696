/* The loopback's side of a cell's one door: 127.0.0.1:PORT inside the sandbox leads to the unix socket bound there. */
#ifndef FORWARDER_H
#define FORWARDER_H

/* Listens on the loopback; -1 with errno when it can't. Callers connect from then on, and wait for `forward`. */
int door_listen(int port);

/* Serves the listener until it is killed. */
_Noreturn void forward(int listener);

#endif
