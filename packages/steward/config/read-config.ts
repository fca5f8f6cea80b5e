// The configuration folder → a configuration, or everything that is wrong with it.
import { basename, join, resolve } from 'node:path';
import {
  type GuardrailsFile,
  type IntegrationsFile,
  STEWARD_CONFIG_FILES,
  withDefaults,
} from '@subluminal/contracts';
import type { Problem, SourceFinding, SourceTree } from '@subluminal/core/source';
import { compileManifest } from '@subluminal/core/surface';
import { reportPlainSecrets, withoutSecrets } from '@subluminal/gateway/config';
import { sha256 } from '@subluminal/plane/crypto';
import { decodeUtf8 } from '@subluminal/plane/os';
import type { ServerEntry } from '@subluminal/plane/serve/config';
import { manifestFileName } from '@subluminal/plane/surface';
import { type Permissions, policyFault, readPermissions } from '../permissions/index.ts';
import { readForm } from '../text/index.ts';
import { checkGuardrails } from './check-guardrails.ts';
import { checkIntegrations, checkServers } from './check-integrations.ts';
import { atStart, type FolderContent, MANIFESTS, readFolder } from './config-folder.ts';
import type { BrokenConfig, StewardConfig } from './types.ts';

/** Contents that would stand in the folder, by path; undefined for a file that would be gone. */
export type ChangedFiles = ReadonlyMap<string, Uint8Array | undefined>;

/** Reads and checks the folder; with `changed`, as it would be then. */
export async function readStewardConfig(
  path: string,
  changed?: ChangedFiles,
): Promise<StewardConfig | BrokenConfig> {
  const folder = resolve(path);
  const content = readFolder(folder, changed);
  const permissions = permissionsIn(content);
  const integrations = integrationsIn(content, folder);
  const guardrails = guardrailsIn(content);
  const identity = identityIn(content);
  const found = [
    ...content.problems,
    ...permissions.problems,
    ...integrations.problems,
    ...guardrails.problems,
    ...identity.problems,
    ...(await manifestProblems(content)),
  ];
  // Of what is wrong by itself, the policy would only say the same in other words.
  if (!hasError(found)) found.push(...(await policyProblems(permissions.value, guardrails.value)));
  // A message quotes what stands in the files, and that may be a secret in the wrong place.
  const problems = withoutSecrets(found);
  if (hasError(problems) || !permissions.value || !integrations.value || !guardrails.value) {
    return { kind: 'broken', problems };
  }
  return {
    kind: 'config',
    folder,
    version: content.version,
    permissions: permissions.value,
    integrations: integrations.value.file,
    servers: integrations.value.servers,
    guardrails: guardrails.value,
    identity: identity.value ?? '',
    manifestsFolder: join(folder, MANIFESTS),
    skillsFolder: join(folder, 'skills'),
    toolsFolder: join(folder, 'tools'),
    warnings: problems,
  };
}

function hasError(problems: readonly Problem[]): boolean {
  return problems.some(({ level }) => level === 'error');
}

interface ReadFile<T> {
  readonly value: T | undefined;
  readonly problems: readonly Problem[];
}

const MISSING: ReadFile<never> = { value: undefined, problems: [] };

function permissionsIn({ files }: FolderContent): ReadFile<Permissions> {
  const file = 'permissions.yaml';
  const bytes = files.get(file);
  if (bytes === undefined) return MISSING;
  const read = readPermissions({ file, bytes });
  if (read.kind === 'broken') return { value: undefined, problems: read.problems };
  return { value: read, problems: [] };
}

function integrationsIn(
  { files }: FolderContent,
  folder: string,
): ReadFile<{ readonly file: IntegrationsFile; readonly servers: readonly ServerEntry[] }> {
  const file = 'integrations.yaml';
  const bytes = files.get(file);
  if (bytes === undefined) return MISSING;
  const read = readForm({ file, bytes }, STEWARD_CONFIG_FILES[file]);
  if (!read.ok) return { value: undefined, problems: read.problems };
  const findings = plainSecrets(file, read.source);
  const report = (finding: SourceFinding): void => {
    findings.push(finding);
  };
  checkIntegrations(read.value, report);
  const servers = checkServers(read.value, { folder, report });
  return { value: { file: read.value, servers }, problems: read.place(findings) };
}

function plainSecrets(name: string, source: SourceTree): SourceFinding[] {
  const found: SourceFinding[] = [];
  reportPlainSecrets({ name, source }, (finding) => {
    found.push({ ...finding, code: 'SUB_STEWARD_VALUE' });
  });
  return found;
}

/** Without the file, the defaults hold. */
function guardrailsIn({ files }: FolderContent): ReadFile<GuardrailsFile> {
  const file = 'guardrails.yaml';
  const form = STEWARD_CONFIG_FILES[file];
  const bytes = files.get(file);
  if (bytes === undefined) {
    const parsed = form.parse(withDefaults(form.shape, {}));
    return { value: parsed.ok ? parsed.value : undefined, problems: [] };
  }
  const read = readForm({ file, bytes }, form);
  if (!read.ok) return { value: undefined, problems: read.problems };
  const findings = [...plainSecrets(file, read.source), ...checkGuardrails(read.value)];
  return { value: read.value, problems: read.place(findings) };
}

function identityIn({ files }: FolderContent): ReadFile<string> {
  const file = 'identity.md';
  const bytes = files.get(file);
  if (bytes === undefined) return MISSING;
  const value = decodeUtf8(bytes);
  if (value !== undefined) return { value, problems: [] };
  const words = { message: 'the file is no UTF-8', fix: 'Save it as UTF-8.' };
  return { value, problems: [atStart(file, { code: 'SUB_STEWARD_SYNTAX', path: [], ...words })] };
}

/** What is right by itself may still be too much for one policy. */
async function policyProblems(
  permissions: Permissions | undefined,
  guardrails: GuardrailsFile | undefined,
): Promise<readonly Problem[]> {
  if (permissions === undefined || guardrails === undefined) return [];
  const fault = await policyFault(permissions, guardrails);
  if (fault === undefined) return [];
  const message = `the permissions cannot be compiled for the channel ${fault}`;
  const fix = 'Name fewer actions, with globs such as `files.*`.';
  return [atStart('permissions.yaml', { code: 'SUB_STEWARD_VALUE', path: [], message, fix })];
}

/** A manifest is found by the name of its file, so the two must agree. */
async function manifestProblems({ files, manifests }: FolderContent): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const file of manifests) {
    const bytes = files.get(file);
    if (bytes === undefined) continue;
    const read = await compileManifest({ file, bytes }, { sha256 });
    if (!read.ok) problems.push(...read.problems);
    else if (manifestFileName(read.manifest.server) !== basename(file)) {
      const message = 'the file is not named after its `server`';
      const fix = `Name it \`${manifestFileName(read.manifest.server)}\`, or correct \`server\`.`;
      problems.push(atStart(file, { code: 'SUB_STEWARD_VALUE', path: [], message, fix }));
    }
  }
  return problems;
}
