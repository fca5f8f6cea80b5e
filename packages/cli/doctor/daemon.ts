// The ledger's daemon and its socket. Nothing is started: without a daemon, shims start one.
import { lstatSync } from 'node:fs';
import { answers, createLedgerClient } from '@subluminal/plane/ingest';
import { plural } from '../terminal/text.ts';
import { broken, type Check, ledgerPlaces, ok, warn } from './check.ts';
import { ageText } from './words.ts';

/** The shortest that a system allows for a Unix socket, its closing zero left out. */
const SOCKET_BYTES_MAX = 103;
const ANSWER_TIMEOUT_MS = 2_000;

export const daemon: Check = {
  id: 'daemon',
  run: async (machine) => {
    const { socket } = ledgerPlaces(machine);
    const there = await answers(socket);
    if (!there) return ok('not running; it is started when a shim has something to record');
    const status = await createLedgerClient({ socketPath: socket }).status(ANSWER_TIMEOUT_MS);
    if (status === undefined) {
      return broken(
        `something listens on ${socket} and does not answer as a ledger`,
        'Stop that process, or set ledger.socket to another path.',
      );
    }
    const { pid, version, started_at, connections, conflicts } = status;
    const age = ageText(machine.nowMs - Date.parse(started_at));
    const text = `runs as ${pid} for ${age}, ${plural(connections - 1, 'connection')}`;
    if (conflicts > 0) {
      const lines = plural(conflicts, 'line');
      return warn(
        `${text}, ${lines} set aside because another had the same number`,
        'Run `sub ledger verify` to see when; somebody may write in the name of a shim.',
      );
    }
    if (version === machine.versions.sub) return ok(`${text}, version ${version}`);
    return warn(
      `${text}, version ${version}, but this is ${machine.versions.sub}`,
      'Stop it with `sub ledgerd --stop`; the next shim starts the new one.',
    );
  },
};

export const socket: Check = {
  id: 'socket',
  run: async (machine) => {
    const { socket: path } = ledgerPlaces(machine);
    const bytes = Buffer.byteLength(path);
    if (bytes > SOCKET_BYTES_MAX) {
      return broken(
        `${path} has ${bytes} bytes, a socket may have ${SOCKET_BYTES_MAX}`,
        'Set ledger.socket, or SUB_HOME, to a shorter path.',
      );
    }
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return ok(`${path} is free`);
    if (!stats.isSocket()) return broken(`${path} is no socket`, `Move it away: ${path}`);
    if (await answers(path)) return ok(`${path} is in use`);
    return warn(`${path} was left by a daemon that is gone`, 'The next daemon takes its place.');
  },
};
