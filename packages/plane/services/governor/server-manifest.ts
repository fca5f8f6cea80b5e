// The manifest that a server starts with. In production, one that cannot be read keeps the server from starting.
import type { Profile } from '@subluminal/contracts';
import type { Manifest } from '@subluminal/core/surface';
import { loadManifest } from '../../stores/surface/manifest-file.ts';

interface ManifestPlace {
  /** The folder of the manifests; undefined where none limits the session. */
  readonly folder: string | undefined;
  readonly server: string;
  readonly profile: Profile;
}

interface StartManifest {
  readonly manifest?: Manifest | undefined;
  /** Why the server must not start. */
  readonly refusal?: string;
  readonly warning?: string;
}

export async function manifestFor({
  folder,
  server,
  profile,
}: ManifestPlace): Promise<StartManifest> {
  if (folder === undefined) return {};
  const loaded = await loadManifest({ folder, server, profile });
  if (loaded.kind === 'none') return {};
  if (loaded.kind === 'manifest') return { manifest: loaded.manifest };
  const { formatProblem } = await import('@subluminal/core/policy');
  const text = loaded.problems.map((problem) => formatProblem(problem)).join('\n');
  return profile === 'production' ? { refusal: text } : { warning: text };
}
