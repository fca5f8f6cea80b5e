// Pins what a person has seen and accepted, and nothing else.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { acceptPins, type PinStore, type ServerPins, writePins } from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import { listingOf } from '@subluminal/plane/probe';
import { savePins } from '@subluminal/plane/surface';
import type { ServerListing, ToolChange } from './pins-report.ts';

/** A tool that is there twice, or too large, cannot be accepted: nobody can say what that would be. */
export function isAcceptable({ kind }: Pick<ToolChange, 'kind'>): boolean {
  return kind !== 'ambiguous' && kind !== 'unpinnable';
}

interface PinRequest {
  readonly home: string;
  readonly server: string;
  readonly tools: readonly string[];
  readonly instructions: boolean;
  /** The pins that were shown. */
  readonly known: ServerPins | undefined;
  readonly seen: ServerListing;
}

/** Pins the listing that was shown, if the pins are still those that it was compared with. */
export async function pinListing(wish: PinRequest): Promise<Failure | undefined> {
  const { home, known, seen, ...request } = wish;
  const { server } = request;
  let isOther = false;
  const saved = await savePins(home, (store: PinStore) => {
    isOther = pinsText(store.servers.get(server)) !== pinsText(known);
    if (isOther) return store;
    return acceptPins(store, listingOf(seen), { ...request, sha256, nowMs: Date.now() });
  });
  if (isFailure(saved)) return saved;
  return isOther ? pinsChanged(server) : undefined;
}

export function pinsChanged(server: string): Failure {
  const message = `the pins of ${server} have changed since they were shown; nothing was accepted.`;
  return failure('SUB_PINS_CHANGED', message, 'Run it again, and look at what it shows now.');
}

function pinsText(pins: ServerPins | undefined): string {
  return pins === undefined ? '' : writePins({ servers: new Map([['', pins]]) });
}
