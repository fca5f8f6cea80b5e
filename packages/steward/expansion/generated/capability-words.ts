// What a sandboxed tool may reach, in words for the user who decides about it.
import type { ToolManifest } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';

const LINE_LENGTH_MAX = 400;

export function capabilityWords(manifest: ToolManifest): readonly string[] {
  const { name, description, reads_only, hosts, files, secrets, limits } = manifest;
  const lines = [
    `${name}: ${description}`,
    reads_only ? 'By its own word, it only reads.' : 'It may change things.',
    ...(hosts.length === 0 ? ['It reaches no host.'] : []),
    ...hosts.map(
      ({ host, paths, methods }) =>
        `It may send ${methods.join(', ')} to https://${host}, below ${paths.join(', ')}.`,
    ),
    ...(files.length === 0 ? ['It reads no file.'] : files.map((file) => `It may read ${file}.`)),
    ...secrets.map(
      ({ ref, host, header }) => `Your secret ${ref} is sent to ${host}, in the header ${header}.`,
    ),
    `Each use has at most ${limits.time_ms} ms, ${limits.memory_mb} MB and ${limits.requests} requests.`,
  ];
  return lines.map((line) => visible(line, LINE_LENGTH_MAX));
}
