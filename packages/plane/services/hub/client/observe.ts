// Telling the hub what a server has answered, and giving it the policy when it has not got it.
import {
  HUB_OBSERVED_CHARS_MAX,
  type ObserveRequest,
  parseObserveResponse,
  type SnapshotFile,
} from '@subluminal/contracts';
import { sendPolicy } from './ask.ts';
import type { Line } from './line.ts';

interface Telling {
  readonly request: ObserveRequest;
  readonly snapshotFile: () => SnapshotFile;
  /** How long each exchange may take. */
  readonly totalMs: number;
}

type ObserveOutcome = { readonly shutdown: boolean } | { readonly reason: string };

const ATTEMPTS_MAX = 2;

/** A machine under load is late, not gone; hearing the same twice changes nothing. Never rejects. */
export async function tellOf(
  line: Line,
  { request, snapshotFile, totalMs }: Telling,
): Promise<ObserveOutcome> {
  const body = JSON.stringify(bounded(request));
  const until = () => performance.now() + totalMs;
  let reason = '';
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const message = { to: 'observe', body, parse: parseObserveResponse } as const;
    let read = await line.send({ ...message, untilMs: until() });
    if (read.ok && read.value.needs_policy === true) {
      const problem = await sendPolicy(line, snapshotFile(), until());
      if (problem !== undefined) return { reason: problem };
      read = await line.send({ ...message, untilMs: until() });
    }
    if (read.ok && read.value.heard) return { shutdown: read.value.shutdown };
    reason = read.ok ? 'the hub does not keep the policy' : read.reason;
  }
  return { reason };
}

/** A hub remembers of a longer text that it did not see all of it. */
function bounded(request: ObserveRequest): ObserveRequest {
  if (request.text.length <= HUB_OBSERVED_CHARS_MAX) return request;
  return { ...request, text: request.text.slice(0, HUB_OBSERVED_CHARS_MAX), partial: true };
}
