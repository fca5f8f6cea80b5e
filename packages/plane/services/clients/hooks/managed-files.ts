// Where the settings of the machine stand, which no user and no project can switch off. A shim loads this, so it is small.
import { readRegularFile } from '../../../os/index.ts';

type ManagedFiles = { readonly [client in 'claude-code' | 'codex' | 'cursor']: string };

const ON_MACOS: ManagedFiles = {
  'claude-code': '/Library/Application Support/ClaudeCode/managed-settings.json',
  codex: '/etc/codex/requirements.toml',
  cursor: '/Library/Application Support/Cursor/hooks.json',
};

const ELSEWHERE: ManagedFiles = {
  'claude-code': '/etc/claude-code/managed-settings.json',
  codex: '/etc/codex/requirements.toml',
  cursor: '/etc/cursor/hooks.json',
};

export function managedFiles(platform: NodeJS.Platform): ManagedFiles {
  return platform === 'darwin' ? ON_MACOS : ELSEWHERE;
}

const BYTES_MAX = 33_554_432;

/** The clients that start `sub hook` from there. They are not parsed: whoever writes them decides anyway. */
export function managedClients(
  files: { readonly [client: string]: string } = managedFiles(process.platform),
): readonly string[] {
  return Object.entries(files).flatMap(([client, path]) => {
    const read = readRegularFile(path, { bytesMax: BYTES_MAX });
    return read.kind === 'read' && read.bytes.includes(` hook ${client}`) ? [client] : [];
  });
}
