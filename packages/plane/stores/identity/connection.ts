// Whether a request over a loopback connection may act for a person: the same judgement as for commands, about the
// process at the other end. Only Linux tells which one that is; what cannot be told is no reason to refuse.
import { type Failure, failure } from '@subluminal/contracts';
import {
  ANCESTORS_MAX,
  type ConnectionEnds,
  isLetGo,
  peerSocket,
  type System,
  socketHolders,
  withAncestors,
} from '../../os/index.ts';
import { type HomeOptions, signOfRun, strayFailure } from './person.ts';

interface ConnectionOptions {
  /** The folder of agent files. */
  readonly runDir: string;
  readonly system: System;
}

/** Why whoever has the other end may not act for a person; undefined when nothing is known against it. */
export function connectionFailure(
  connection: ConnectionEnds,
  options: ConnectionOptions,
): Failure | undefined {
  const { system } = options;
  const peer = peerSocket(connection, system);
  if (peer === undefined) return undefined;
  // An agent could ask and end before anybody looks.
  if (isLetGo(peer)) return refused('nobody waits for its answer.');
  for (const pid of socketHolders(peer, system)) {
    const why = insideRun(pid, options);
    if (why !== undefined) return refused(why);
  }
  return undefined;
}

/** The same about a process that has shown which one it is: an agent could have let go of it, too. */
export function processFailure(
  pid: number,
  options: ConnectionOptions & HomeOptions,
): Failure | undefined {
  const why = insideRun(pid, options);
  return why === undefined ? strayFailure(pid, options) : refused(why);
}

function insideRun(pid: number, options: ConnectionOptions): string | undefined {
  const chain = [...withAncestors(pid, options.system)];
  if (chain.length === 0) return 'the process that asked has ended.';
  for (const info of chain) {
    const sign = signOfRun(info, options);
    if (sign !== undefined) {
      return `it comes from inside a governed run: the process ${info.pid} ${sign}.`;
    }
  }
  // An agent can put as many processes in between as it likes.
  return chain.length < ANCESTORS_MAX
    ? undefined
    : 'too many processes are above the one that asks.';
}

function refused(why: string): Failure {
  const fix = 'Use a browser or a terminal of your own, which no agent and no client has started.';
  return failure('SUB_INSIDE_RUN', `this request is for a person, and ${why}`, fix);
}
