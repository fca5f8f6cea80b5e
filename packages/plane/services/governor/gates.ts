// The gates of a shim with what they need from the disk: pins, and the key of fingerprints.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  createGuard,
  type GuardOptions,
  growingLeakFinder,
  type LeakFinder,
  type SelfProtection,
  type ServerGuard,
} from '@subluminal/core/gates';
import {
  policiesIn,
  type SectionsInForce,
  type Snapshot,
  strictestMode,
} from '@subluminal/core/policy';
import type { SecretValue } from '@subluminal/core/scan';
import type { Manifest, OpenedPins, PinStore, ServerPins } from '@subluminal/core/surface';
import { compileTaint } from '@subluminal/core/taint';
import { sha256 } from '../../os/crypto/index.ts';
import { type WatchedFiles, watchFiles } from '../../os/index.ts';
import {
  openPins,
  PINS_FILE,
  type PinsFile,
  rememberPins,
  savePins,
} from '../../stores/surface/index.ts';
import { ProtectedFinder } from '../self-protection/find-protected.ts';
import { fingerprintsIn } from './fingerprints.ts';
import { type GatesLifecycleOptions, type GatesPeer, hasSecrets } from './gates-lifecycle.ts';

interface GatesOptions extends GatesLifecycleOptions {
  readonly manifest: Manifest | undefined;
  readonly snapshot: Snapshot;
  /** The sections of the policies besides their rules, for this agent. */
  readonly sections: SectionsInForce;
  /** Whether the first policy is for this agent. */
  readonly isMeant: boolean;
}

const PINS_EVERY_MS = 1_000;
const NO_SECRETS: readonly SecretValue[] = [];

export class Gates {
  guard: ServerGuard;
  #options: GatesOptions;
  #opened: ReadPins | undefined;
  /** The pins of this server. They can change while the shim runs, but none goes away. */
  #written: ServerPins | undefined;
  #isLossReported = false;
  /** The newest revision of the pins that this shim has seen. */
  #revision = 0;
  #watched: WatchedFiles | undefined;
  /** Finds the tokens of a login, too, as they come. */
  readonly #leaks: LeakFinder;
  readonly #fingerprint: (text: string) => string;
  readonly #protected: ProtectedFinder;
  #peer: GatesPeer | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: GatesOptions) {
    this.#options = options;
    const { secrets, learned } = options;
    this.#leaks = growingLeakFinder(secrets, () => learned?.values() ?? NO_SECRETS);
    this.#fingerprint = fingerprintsIn(options.home).of;
    this.#protected = new ProtectedFinder(options.protects);
    const opened = options.pinsMode === 'off' ? undefined : openPins(options.home);
    this.#opened = opened;
    if (opened !== undefined && !isFailure(opened)) {
      this.#revision = opened.revision;
      this.#written = opened.store.servers.get(options.serverName);
    }
    this.guard = createGuard(this.#guardOptions());
  }

  start(peer: GatesPeer): void {
    this.#peer = peer;
    const { home, pinsMode } = this.#options;
    if (isFailure(this.#opened)) {
      const { message, fix, code } = this.#opened;
      peer.warn(`${message} ${fix} [${code}]`);
      peer.degraded('the pins cannot be read');
    }
    if (pinsMode === 'off') return;
    // A person may have accepted a change in another process.
    const read = async () => this.#reopen();
    const paths = [join(home, PINS_FILE)];
    this.#watched = watchFiles({ paths, everyMs: PINS_EVERY_MS, read });
  }

  stop(): void {
    this.#watched?.stop();
  }

  /** Uses other options; counters and pins are kept. */
  renew(options: GatesOptions): void {
    this.#options = options;
    this.guard = this.guard.renewed(this.#guardOptions());
  }

  /** Saves definitions that are new. */
  remember(): void {
    const seen = this.guard.pins();
    if (seen === undefined) return;
    const { home, serverName } = this.#options;
    const save = async (): Promise<void> => {
      const saved = await savePins(home, (store) => rememberPins(store, serverName, seen));
      if (!isFailure(saved)) return this.#saved(seen, saved);
      this.#peer?.warn(`${saved.message} ${saved.fix} [${saved.code}]`);
      this.#peer?.degraded('the pins cannot be written');
    };
    this.#saving = this.#saving.then(save);
  }

  flush(): Promise<void> {
    return this.#saving;
  }

  /** Another session may have seen another definition first: then this one is a change. */
  #saved(seen: ServerPins, store: PinStore): void {
    const kept = this.#keeping(store);
    const isOurs = [...seen.tools].every(
      ([name, { hash }]) => kept?.tools.get(name)?.hash === hash,
    );
    const { instructions } = seen;
    const isSame = instructions === undefined || kept?.instructions?.hash === instructions.hash;
    this.#written = kept;
    if (!isOurs || !isSame) this.#use({ store }, kept);
  }

  #reopen(): void {
    const opened = this.#newer(openPins(this.#options.home));
    const wasRead = this.#opened !== undefined && !isFailure(this.#opened);
    if (isFailure(opened)) return this.#use(opened, this.#written);
    const own = this.#keeping(opened.store);
    // New gates ask again about calls that wait for a person, so pins of other servers must not replace them.
    if (wasRead && isDeepStrictEqual(own, this.#written)) return;
    // A file without pins of this server does not repair one that could not be read.
    if (!wasRead && own === undefined) return this.#reportLoss();
    this.#use(opened, own);
  }

  /** Refuses an older file that was put back: its signature is still valid. */
  #newer(opened: PinsFile | Failure): PinsFile | Failure {
    if (isFailure(opened)) return opened;
    const { revision } = opened;
    const isOlder = revision > 0 && revision < this.#revision;
    this.#revision = Math.max(this.#revision, revision);
    // A missing file is not older: pins that are gone are kept anyway.
    if (!isOlder) return opened;
    const message = `${PINS_FILE} is older than the one that was there before.`;
    const fix = 'Put the newer one back, or run `sub pins reset --yes`.';
    return failure('SUB_PINS_UNREADABLE', message, fix);
  }

  /** The pins of this server in a store, plus those that are gone from it. */
  #keeping({ servers }: PinStore): ServerPins | undefined {
    const own = servers.get(this.#options.serverName);
    const known = this.#written;
    if (known === undefined) return own;
    const tools = new Map([...known.tools, ...(own?.tools ?? [])]);
    const instructions = own?.instructions ?? known.instructions;
    const isLess =
      tools.size > (own?.tools.size ?? 0) ||
      (instructions !== undefined && own?.instructions === undefined);
    if (isLess) this.#reportLoss();
    else this.#isLossReported = false;
    return isLess ? { instructions, tools } : own;
  }

  #reportLoss(): void {
    if (this.#isLossReported) return;
    this.#isLossReported = true;
    const { serverName } = this.#options;
    this.#peer?.warn(`${serverName}: pins are gone; they hold until the next start`);
    this.#peer?.degraded('pins are gone; those of this session stay');
  }

  #use(opened: ReadPins, own: ServerPins | undefined): void {
    const { serverName } = this.#options;
    if (!isFailure(opened) && own !== undefined) {
      const servers = new Map([...opened.store.servers, [serverName, own] as const]);
      this.#opened = { store: { servers } };
    } else this.#opened = opened;
    this.#written = own;
    this.renew(this.#options);
    this.#peer?.use(this.guard);
  }

  /** On in every profile and without any policy, unless a policy says otherwise or only observes. */
  #selfProtection(): SelfProtection | undefined {
    const { snapshot, sections, isMeant, hasPolicy } = this.#options;
    // A second policy cannot switch anything off.
    if (isMeant && snapshot.document.self_protection === 'off') return undefined;
    const finder = this.#protected;
    return {
      enforced: !(isMeant && hasPolicy && sections.mode === 'observe'),
      baseNames: finder.baseNames,
      hasBaseName: (json) => finder.hasBaseName(json),
      isMentioned: (text) => finder.isMentioned(text),
      find: (names) => finder.find(names),
      findChanged: (changes) => finder.findChanged(changes),
      useRoots: (uris) => finder.useRoots(uris),
    };
  }

  #guardOptions(): GuardOptions {
    const { serverName, sections, manifest, pinsMode, hasHub, keepsForm } = this.#options;
    const { content, taint } = sections;
    const pins =
      this.#opened === undefined || pinsMode === 'off'
        ? undefined
        : { mode: pinsMode, opened: openedPins(this.#opened) };
    return {
      server: serverName,
      enforces: enforcedBy(this.#options),
      manifest,
      pins,
      content: keepsForm === true && content !== undefined ? { ...content, ...AS_IT_IS } : content,
      taint: taint !== undefined && !hasHub ? compileTaint(taint) : undefined,
      leaks: hasSecrets(this.#options) ? this.#leaks : undefined,
      selfProtection: this.#selfProtection(),
      sha256,
      fingerprint: this.#fingerprint,
      redact: this.#options.redact,
      hubCounts: hasHub,
      inspectBytesMax: this.#options.inspectBytesMax,
      seed: process.pid,
    };
  }
}

const AS_IT_IS = { external_content: 'off', max_result_chars: Number.MAX_SAFE_INTEGER } as const;

/** What is enforced: nothing outside of production. Without a policy, a manifest is enforced and pins only report. */
function enforcedBy(options: GatesOptions): GuardOptions['enforces'] {
  const { profile, snapshot, sections, hasPolicy } = options;
  const mode = strictestMode(policiesIn(snapshot));
  const isProduction = profile === 'production';
  return {
    surface: isProduction && (!hasPolicy || mode !== 'observe'),
    pins: isProduction && mode !== 'observe',
    content: isProduction && sections.mode !== 'observe',
    asks: isProduction && (!hasPolicy || mode === 'control'),
  };
}

type ReadPins = Pick<PinsFile, 'store'> | Failure;

function openedPins(read: ReadPins): OpenedPins {
  if (!isFailure(read)) return { ok: true, store: read.store };
  return { ok: false, code: 'SUB_PINS_UNREADABLE', message: read.message };
}
