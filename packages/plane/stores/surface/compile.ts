// Loaded only when there is a manifest: a shim without one pays for no YAML.
import { compileManifest, type ManifestResult } from '@subluminal/core/surface';
import { sha256 } from '../../os/crypto/index.ts';

export function compiledFrom(file: string, bytes: Uint8Array): Promise<ManifestResult> {
  return compileManifest({ file, bytes }, { sha256 });
}
