// The gates of a shim with what they need from the disk: pins, and the key of fingerprints.
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  createGuard,
  createLeakFinder,
  type GuardOptions,
  type LeakFinder,
  type ServerGuard,
} from '@subluminal/core/gates';
import type { Snapshot } from '@subluminal/core/policy';
import type { Manifest, OpenedPins, PinStore, ServerPins } from '@subluminal/core/surface';
import { compileTaint } from '@subluminal/core/taint';
import { sha256 } from '../../crypto/index.ts';
import { openPins, PINS_FILE, rememberPins, savePins } from '../../surface/index.ts';
import { fingerprintsIn } from './fingerprints.ts';
import type { GuardingOptions, GuardingPeer } from './guarding.ts';

interface GatesOptions extends GuardingOptions {
  readonly manifest: Manifest | undefined;
  readonly snapshot: Snapshot;
  /** Whether the policy is for this agent. */
  readonly isMeant: boolean;
}

const PINS_EVERY_MS = 1_000;

class Gates {
  guard: ServerGuard;
  #options: GatesOptions;
  #opened: OpenedPins | undefined;
  /** What the file holds of this server, as far as is known. */
  #written: ServerPins | undefined;
  readonly #leaks: LeakFinder | undefined;
  readonly #fingerprint: (text: string) => string;
  #peer: GuardingPeer | undefined;
  #saving: Promise<void> = Promise.resolve();
  readonly #onPins = (): void => this.#reopen();

  constructor(options: GatesOptions) {
    this.#options = options;
    this.#leaks = createLeakFinder(options.secrets);
    this.#fingerprint = fingerprintsIn(options.home).of;
    this.#opened = options.pinsMode === 'off' ? undefined : openPins(options.home);
    this.#written = this.#opened?.ok
      ? this.#opened.store.servers.get(options.serverName)
      : undefined;
    this.guard = createGuard(this.#guardOptions());
  }

  start(peer: GuardingPeer): void {
    this.#peer = peer;
    const { home, pinsMode } = this.#options;
    if (this.#opened?.ok === false) {
      peer.warn(`${this.#opened.message} [${this.#opened.code}]`);
      peer.degraded('the pins cannot be read');
    }
    if (pinsMode === 'off') return;
    // A person may have accepted a change.
    const interval = PINS_EVERY_MS;
    watchFile(join(home, PINS_FILE), { interval, persistent: false }, this.#onPins);
  }

  stop(): void {
    unwatchFile(join(this.#options.home, PINS_FILE), this.#onPins);
  }

  /** Other options; what was counted and seen goes on. */
  renew(options: GatesOptions): void {
    this.#options = options;
    this.guard = this.guard.renewed(this.#guardOptions());
  }

  /** Writes down what was seen for the first time. */
  remember(): void {
    const seen = this.guard.pins();
    if (seen === undefined) return;
    const { home, serverName } = this.#options;
    const save = async (): Promise<void> => {
      const saved = await savePins(home, (store) => rememberPins(store, serverName, seen));
      if (saved.ok) return this.#saved(seen, saved.store);
      this.#peer?.warn(`${saved.message}. ${saved.fix} [${saved.code}]`);
      this.#peer?.degraded('the pins cannot be written');
    };
    this.#saving = this.#saving.then(save);
  }

  flush(): Promise<void> {
    return this.#saving;
  }

  /** Another session may have seen another definition first: then this one is a change. */
  #saved(seen: ServerPins, store: PinStore): void {
    const kept = store.servers.get(this.#options.serverName);
    const isOurs = [...seen.tools].every(
      ([name, { hash }]) => kept?.tools.get(name)?.hash === hash,
    );
    const { instructions } = seen;
    const isSame = instructions === undefined || kept?.instructions?.hash === instructions.hash;
    this.#written = kept;
    if (!isOurs || !isSame) this.#use({ ok: true, store });
  }

  #reopen(): void {
    const opened = openPins(this.#options.home);
    // Gates that are replaced ask again about what waits for a person: not for what others have seen.
    const own = opened.ok ? opened.store.servers.get(this.#options.serverName) : undefined;
    if (opened.ok && this.#opened?.ok === true && isDeepStrictEqual(own, this.#written)) return;
    this.#use(opened);
  }

  #use(opened: OpenedPins): void {
    this.#opened = opened;
    this.#written = opened.ok ? opened.store.servers.get(this.#options.serverName) : undefined;
    this.renew(this.#options);
    this.#peer?.use(this.guard);
  }

  #guardOptions(): GuardOptions {
    const { serverName, snapshot, manifest, pinsMode, isMeant, hasHub } = this.#options;
    const { content, taint } = snapshot.document;
    const pins =
      this.#opened === undefined || pinsMode === 'off'
        ? undefined
        : { mode: pinsMode, opened: this.#opened };
    return {
      server: serverName,
      enforces: enforcedBy(this.#options),
      manifest,
      pins,
      content: isMeant ? content : undefined,
      taint: isMeant && taint !== undefined && !hasHub ? compileTaint(taint) : undefined,
      leaks: this.#leaks,
      sha256,
      fingerprint: this.#fingerprint,
      redact: this.#options.redact,
      inspectBytesMax: this.#options.inspectBytesMax,
      seed: process.pid,
    };
  }
}

/** Who has written a manifest wants it enforced; pins are told only until there is a policy. */
function enforcedBy({ profile, snapshot, hasPolicy }: GatesOptions): GuardOptions['enforces'] {
  const { mode } = snapshot.document;
  const isProduction = profile === 'production';
  const isStrict = isProduction && mode !== 'observe';
  return {
    surface: isProduction && (!hasPolicy || mode !== 'observe'),
    pins: isStrict,
    content: isStrict,
    asks: isProduction && (!hasPolicy || mode === 'control'),
  };
}

export { Gates };
