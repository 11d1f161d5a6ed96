/* robot: a robot's side in C: sends its states to an estimator.
 *
 *   apt install libnats-dev libmsgpack-dev
 *   cc -O2 robot.c -o robot -lnats -lmsgpackc -lm
 *   dgm-estimator --model flight.dgm --vehicle v1
 *   ./robot [nats://127.0.0.1:4222] [v1]
 *
 * The message is that of estimator/wire/PROTOCOL.md: a map of version, number, time and state. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <msgpack.h>
#include <nats/nats.h>

enum { RATE = 200 }; /* Hz */

/* sensors writes what is measured: all states of the model in their order, or those that have a sensor.
 * Put your own reading here; this is an encoder at a simulated pendulum. */
static size_t sensors(double *x)
{
	static double angle = 1.3, speed = 0; /* rad from hanging, rad/s */
	for (int i = 0; i < 10; i++) {
		speed -= 55 * sin(angle) / (10 * RATE);
		angle += speed / (10 * RATE);
	}
	x[0] = acos(-1) + angle;
	return 1;
}

static void key(msgpack_packer *p, const char *name)
{
	msgpack_pack_str_with_body(p, name, strlen(name));
}

int main(int argc, char **argv)
{
	const char *url = argc > 1 ? argv[1] : "nats://127.0.0.1:4222";
	char subject[80];
	natsConnection *nc = NULL;
	struct timespec due;
	snprintf(subject, sizeof subject, "dgm.state.%s", argc > 2 ? argv[2] : "v1");
	natsStatus s = natsConnection_ConnectTo(&nc, url);
	if (s != NATS_OK) {
		fprintf(stderr, "NATS at %s: %s\n", url, natsStatus_GetText(s));
		return 1;
	}
	clock_gettime(CLOCK_REALTIME, &due);
	for (uint64_t seq = 0; s == NATS_OK; seq++) {
		double x[16];
		size_t n = sensors(x);
		msgpack_sbuffer buffer;
		msgpack_packer p;
		msgpack_sbuffer_init(&buffer);
		msgpack_packer_init(&p, &buffer, msgpack_sbuffer_write);
		msgpack_pack_map(&p, 4);
		key(&p, "v");
		msgpack_pack_uint8(&p, 1);
		key(&p, "seq");
		msgpack_pack_uint64(&p, seq);
		key(&p, "t"); /* ns since 1970, when it was measured: 5 ms too late is 0.04 rad wrong at 8 rad/s */
		msgpack_pack_int64(&p, (int64_t)due.tv_sec * 1000000000 + due.tv_nsec);
		key(&p, "x");
		msgpack_pack_array(&p, n);
		for (size_t i = 0; i < n; i++)
			msgpack_pack_double(&p, x[i]);
		s = natsConnection_Publish(nc, subject, buffer.data, (int)buffer.size);
		if (s == NATS_OK)
			s = natsConnection_Flush(nc); /* now, not when a buffer is full */
		msgpack_sbuffer_destroy(&buffer);
		due.tv_nsec += 1000000000 / RATE;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &due, NULL);
	}
	fprintf(stderr, "publishing to %s: %s\n", subject, natsStatus_GetText(s));
	return 1;
}
