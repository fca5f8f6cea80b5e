// The gates of a shim: manifest, pins, content and leaks. Their code is loaded only if one of them is needed.
import type { Profile } from '@subluminal/contracts';
import {
  type Identity,
  type SectionsInForce,
  type Snapshot,
  sectionsFor,
  selects,
} from '@subluminal/core/policy';
import type { SecretValue } from '@subluminal/core/scan';
import type { Guard } from '@subluminal/core/session';
import type { Manifest } from '@subluminal/core/surface';
import { watchManifest } from '../../stores/surface/index.ts';
import type { LearnedSecrets } from '../../stores/vault/load-redactor.ts';
import type { FinderOptions } from '../self-protection/finder-options.ts';
import type { Gates } from './gates.ts';
import { manifestFor } from './server-manifest.ts';

export interface GatesLifecycleOptions {
  readonly serverName: string;
  /** `$SUB_HOME`. */
  readonly home: string;
  /** The folder of the manifests; undefined where none limits the session. */
  readonly manifests: string | undefined;
  readonly pinsMode: 'off' | 'on' | 'strict';
  readonly profile: Profile;
  readonly snapshot: Snapshot;
  /** False when nobody has written a policy. */
  readonly hasPolicy: boolean;
  readonly identity: Identity;
  /** Whether a hub keeps the taint of the run. */
  readonly hasHub: boolean;
  /** Whether Cedar decides too, at the hub. */
  readonly hasCedar: boolean;
  readonly secrets: readonly SecretValue[];
  /** The tokens of a login, which change while the server is used. */
  readonly learned?: LearnedSecrets | undefined;
  readonly redact: (text: string) => string;
  readonly inspectBytesMax: number;
  /** Answers are neither marked nor cut: a client bounds and shows the outputs of its own tools by itself. */
  readonly keepsForm?: boolean;
  /** What calls must not name, and where relative names start. */
  readonly protects: FinderOptions;
}

export interface GatesPeer {
  /** Uses other gates from the next message on. */
  use(guard: Guard | undefined): void;
  warn(text: string): void;
  /** Records that something is degraded. */
  degraded(reason: string): void;
}

/** The policy and manifest in force; they change while the shim runs. */
interface PolicyInForce {
  snapshot: Snapshot;
  /** The sections of the policies besides their rules, for this agent. */
  sections: SectionsInForce;
  /** Whether the first policy, which alone may switch off self-protection, is for this agent. */
  isMeant: boolean;
  manifest: Manifest | undefined;
}

const MANIFEST_EVERY_MS = 1_000;

/** Whether there is a secret that must stay between here and the server. */
export function hasSecrets({
  secrets,
  learned,
}: Pick<GatesLifecycleOptions, 'secrets' | 'learned'>): boolean {
  return secrets.length > 0 || (learned !== undefined && learned.values().length > 0);
}

export class GatesLifecycle {
  readonly #options: GatesLifecycleOptions;
  readonly #now: PolicyInForce;
  /** Loaded only if one of them is needed. */
  gates: Gates | undefined;
  #peer: GatesPeer | undefined;
  #watch: { stop(): void } | undefined;
  #unfollow: (() => void) | undefined;

  constructor(options: GatesLifecycleOptions, manifest: Manifest | undefined) {
    this.#options = options;
    const { snapshot, identity } = options;
    const isMeant = selects(snapshot.document.selectors, identity);
    this.#now = { snapshot, manifest, sections: sectionsFor(snapshot, identity), isMeant };
  }

  get guard(): Guard | undefined {
    return this.gates?.guard;
  }

  /** The names of the gates in force, by the stage in which they judge a call. */
  get inForce(): { readonly surface: readonly string[]; readonly content: readonly string[] } {
    const { manifest, sections, isMeant, snapshot } = this.#now;
    const isProtected = !isMeant || snapshot.document.self_protection !== 'off';
    const named = (gates: { readonly [name: string]: boolean }) =>
      Object.keys(gates).filter((name) => gates[name]);
    return {
      surface: named({
        'self-protection': isProtected,
        pins: this.#options.pinsMode !== 'off',
        manifest: manifest !== undefined,
      }),
      content: named({
        leaks: hasSecrets(this.#options),
        content: sections.content !== undefined,
        taint: sections.taint !== undefined && !this.#options.hasHub,
      }),
    };
  }

  /** Whether every call asks the hub, which has Cedar and the taint of the run. */
  get asksAlways(): boolean {
    const { hasCedar } = this.#options;
    return hasCedar || this.observes;
  }

  /** Whether the hub must know the content of answers. */
  get observes(): boolean {
    return this.#options.hasHub && this.#now.sections.taint !== undefined;
  }

  /** Whether a gate or Cedar may ask a person. */
  get mayAsk(): boolean {
    const { content, taint } = this.#now.sections;
    if (this.#now.manifest !== undefined || this.#options.hasCedar) return true;
    return content !== undefined || taint !== undefined;
  }

  /** Loads the gates if they are needed; must be called before a session uses the policy in force. */
  async prepare(): Promise<void> {
    if (!this.#isWanted) {
      this.gates?.stop();
      this.gates = undefined;
      return;
    }
    const options = { ...this.#options, ...this.#now };
    if (this.gates !== undefined) return this.gates.renew(options);
    const { Gates: Loaded } = await import('./gates.ts');
    this.gates = new Loaded(options);
    if (this.#peer !== undefined) this.gates.start(this.#peer);
  }

  get #isWanted(): boolean {
    const { pinsMode, hasHub } = this.#options;
    const { manifest, sections } = this.#now;
    const { content, taint } = sections;
    if (manifest !== undefined || pinsMode !== 'off') return true;
    if (hasSecrets(this.#options)) return true;
    if (!this.#now.isMeant || this.#now.snapshot.document.self_protection !== 'off') return true;
    return content !== undefined || (taint !== undefined && !hasHub);
  }

  start(peer: GatesPeer): void {
    this.#peer = peer;
    this.gates?.start(peer);
    this.#unfollow = this.#followLearned(peer);
    const { manifests: folder, serverName: server, profile } = this.#options;
    if (folder === undefined) return;
    this.#watch = watchManifest({
      folder,
      server,
      profile,
      current: this.#now.manifest,
      everyMs: MANIFEST_EVERY_MS,
      changed: async (manifest) => {
        this.#now.manifest = manifest;
        await this.prepare();
        peer.use(this.guard);
        peer.warn(`${server}: another manifest`);
      },
      gone: () => {
        peer.warn(`${server}: its manifest is gone; the last one stays until the next start`);
        peer.degraded('the manifest is gone; the last one stays');
      },
      broken: ({ path }) => {
        peer.warn(`${path} is broken; the last good manifest stays. Run \`sub manifest check\``);
        peer.degraded('the manifest is broken; the last good one stays');
      },
    });
  }

  /**
   * The first token changes what the gates must see. They find later ones by themselves: other gates would ask again
   * about calls that wait for a person.
   */
  #followLearned(peer: GatesPeer): (() => void) | undefined {
    const { learned, secrets } = this.#options;
    if (learned === undefined || secrets.length > 0) return undefined;
    let hasGates = learned.values().length > 0;
    return learned.follow(() => {
      if (hasGates) return;
      hasGates = true;
      void this.prepare().then(() => peer.use(this.guard));
    });
  }

  async usePolicy(snapshot: Snapshot): Promise<void> {
    this.#now.snapshot = snapshot;
    this.#now.sections = sectionsFor(snapshot, this.#options.identity);
    this.#now.isMeant = selects(snapshot.document.selectors, this.#options.identity);
    await this.prepare();
  }

  stop(): void {
    this.#unfollow?.();
    this.#watch?.stop();
    this.gates?.stop();
  }

  /** Resolves when all pins are saved, or could not be. */
  flush(): Promise<void> {
    return this.gates?.flush() ?? Promise.resolve();
  }
}

type OpenedGates =
  | { readonly ok: true; readonly guarding: GatesLifecycle; readonly warning?: string }
  | { readonly ok: false; readonly message: string };

/** In production, a manifest that cannot be read keeps the server from starting. */
export async function openGates(options: GatesLifecycleOptions): Promise<OpenedGates> {
  const { manifests: folder, serverName: server, profile } = options;
  const { manifest, refusal, warning } = await manifestFor({ folder, server, profile });
  if (refusal !== undefined) return { ok: false, message: refusal };
  const guarding = new GatesLifecycle(options, manifest);
  return { ok: true, guarding, ...(warning !== undefined && { warning }) };
}
