// Running code that nobody trusts.
import type { Failure, JsonObject, JsonValue, ToolManifest } from '@subluminal/contracts';
import type { Upstream } from '@subluminal/plane/upstream';

export type SandboxProgram =
  /** A module whose default export takes the input and `host`. */
  | { readonly kind: 'js'; readonly code: string }
  /** See docs/reference/sandbox.md for what it exports and imports. */
  | { readonly kind: 'wasm'; readonly bytes: Uint8Array };

export interface SandboxJob {
  readonly program: SandboxProgram;
  readonly manifest: ToolManifest;
  readonly input: JsonObject;
  readonly ports: SandboxPorts;
  readonly signal: AbortSignal;
}

/** The outside world, as far as a manifest may declare it. */
export interface SandboxPorts {
  /** Where sandbox-worker.mjs is, beside the file of QuickJS in an installation. */
  readonly workerFile: string;
  /** Must refuse addresses that are not public: see `sandboxUpstream`. */
  readonly upstream: Upstream;
  readonly secret: (ref: string) => Promise<string | Failure>;
  /** Folders of which nothing is read, whatever a manifest says: our own. */
  readonly protectedFolders: readonly string[];
}

export type SandboxOutcome =
  | { readonly kind: 'done'; readonly value: JsonValue; readonly log: string }
  /** `why` may hold words of the tool. */
  | { readonly kind: 'failed'; readonly why: string; readonly log: string };
