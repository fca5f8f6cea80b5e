// What has to change so that a skill, a server or a tool is gone, whatever was proposed or changed since it came.
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Failure, tableFailure } from '@subluminal/contracts';
import { quote } from '@subluminal/core/visible';
import { attempt, readRegularFile } from '@subluminal/plane/os';
import { manifestFileName } from '@subluminal/plane/surface';
import { type Document, isSeq } from 'yaml';
import { FILE_BYTES_MAX, MANIFESTS, type StewardConfig } from '../config/index.ts';
import { documentText, readConfigDocument } from './servers/config-document.ts';
import { SKILL_ORIGINS } from './skills/skill-library.ts';

export interface ExpansionPart {
  readonly kind: 'skill' | 'server' | 'tool';
  readonly name: string;
}

export interface RevokedFile {
  readonly path: string;
  /** Undefined for a file that goes. */
  readonly text: string | undefined;
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;
const TIERS = ['auto_execute', 'log_and_execute', 'human_approval'];

export function planRevocation(
  { kind, name }: ExpansionPart,
  config: StewardConfig,
): readonly RevokedFile[] | Failure {
  const files = NAME.test(name) && !name.includes('..') ? filesFor({ kind, name }, config) : [];
  if (files.length > 0) return files;
  return tableFailure('SUB_STEWARD_EXPANSION', `There is no ${kind} ${quote(name)}.`);
}

function filesFor({ kind, name }: ExpansionPart, config: StewardConfig): readonly RevokedFile[] {
  const { folder, skillsFolder, toolsFolder } = config;
  switch (kind) {
    case 'skill':
      return SKILL_ORIGINS.flatMap((origin) => allIn(folder, join(skillsFolder, origin, name)));
    case 'tool':
      return allIn(folder, join(toolsFolder, name));
    case 'server':
      return serverFiles(name, config);
  }
}

function allIn(root: string, folder: string): readonly RevokedFile[] {
  const listed = attempt(() => readdirSync(folder, { recursive: true, withFileTypes: true })) ?? [];
  return listed
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep).join('/'))
    .map((path) => ({ path, text: undefined }));
}

/** Its entry, its manifest, and the actions that name it alone. */
function serverFiles(name: string, { folder, servers }: StewardConfig): readonly RevokedFile[] {
  if (!servers.some((one) => one.name === name)) return [];
  const integrations = edited(folder, 'integrations.yaml', (document) =>
    document.deleteIn(['servers', name]),
  );
  const permissions = edited(folder, 'permissions.yaml', (document) => {
    for (const tier of TIERS) {
      const list: unknown = document.getIn(['tiers', tier, 'actions']);
      if (!isSeq(list)) continue;
      list.items = list.items.filter((item) => !String(item).startsWith(`${name}.`));
    }
  });
  const path = `${MANIFESTS}/${manifestFileName(name)}`;
  const hasManifest = readRegularFile(join(folder, path), { bytesMax: FILE_BYTES_MAX });
  return [
    ...integrations,
    ...permissions,
    ...(hasManifest.kind === 'missing' ? [] : [{ path, text: undefined }]),
  ];
}

function edited(
  folder: string,
  path: string,
  edit: (document: Document) => unknown,
): readonly RevokedFile[] {
  const document = readConfigDocument(folder, path);
  if (document === undefined) return [];
  const old = JSON.stringify(document.toJSON());
  edit(document);
  if (JSON.stringify(document.toJSON()) === old) return [];
  return [{ path, text: documentText(document) }];
}
