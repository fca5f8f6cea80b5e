// The installed tools as one MCP server: each folder of config/tools is one tool.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  type JsonObject,
  type ObjectShape,
  parseAs,
  parserFor,
  shapeSchema,
  TOOL_MANIFEST,
  type ToolManifest,
  withDefaults,
} from '@subluminal/contracts';
import {
  array,
  boolean,
  closed,
  type Field,
  integer,
  number,
  oneOf,
  optional,
  required,
  type Shape,
  string,
} from '@subluminal/contracts/shape';
import { visible } from '@subluminal/core/visible';
import { parseSecretRef } from '@subluminal/gateway/config';
import type { OwnAnswer, OwnServer, OwnTool } from '@subluminal/plane/agent-run';
import { attempt, parseJson, readRegularFile } from '@subluminal/plane/os';
import { runSandboxed } from './run-sandboxed.ts';
import type { SandboxPorts, SandboxProgram } from './types.ts';

export interface InstalledTool {
  readonly manifest: ToolManifest;
  readonly program: SandboxProgram;
}

export interface InstalledTools {
  readonly tools: readonly InstalledTool[];
  /** Tools that are not used, and why. */
  readonly problems: readonly string[];
}

const MANIFEST = 'tool.capabilities.json';
const MANIFEST_BYTES_MAX = 100_000;
const PROGRAM_BYTES_MAX = 2 * 1024 * 1024;
const TOOLS_MAX = 200;
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;
/** A name of the open internet: an address would be reached without a look at where it leads. */
const HOST =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HEADER = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;

export function readInstalledTools(folder: string): InstalledTools {
  const entries = attempt(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const tools: InstalledTool[] = [];
  const problems: string[] = [];
  for (const name of names.toSorted().slice(0, TOOLS_MAX)) {
    const tool = readTool(join(folder, name), name);
    if (typeof tool === 'string') problems.push(`tools/${visible(name, 100)}: ${tool}`);
    else tools.push(tool);
  }
  if (names.length > TOOLS_MAX) problems.push(`There are more than ${TOOLS_MAX} tools.`);
  return { tools, problems };
}

function readTool(folder: string, name: string): InstalledTool | string {
  const file = readRegularFile(join(folder, MANIFEST), { bytesMax: MANIFEST_BYTES_MAX });
  if (file.kind !== 'read') return `${MANIFEST} cannot be read.`;
  const manifest = readToolManifest(file.bytes.toString());
  if (typeof manifest === 'string') return manifest;
  if (manifest.name !== name) return 'The manifest has another name than the folder.';
  const [js, wasm] = ['tool.js', 'tool.wasm'].map((one) =>
    readRegularFile(join(folder, one), { bytesMax: PROGRAM_BYTES_MAX }),
  );
  if (js?.kind === 'read' && wasm?.kind === 'missing') {
    return { manifest, program: { kind: 'js', code: js.bytes.toString() } };
  }
  if (wasm?.kind === 'read' && js?.kind === 'missing') {
    return { manifest, program: { kind: 'wasm', bytes: wasm.bytes } };
  }
  return 'It needs one file tool.js or tool.wasm of at most 2 MB.';
}

/** A text says why it is none. */
export function readToolManifest(text: string): ToolManifest | string {
  const json = parseJson(text);
  if (json === undefined) return 'The manifest is no JSON.';
  const read = parseAs(TOOL_MANIFEST, withDefaults(TOOL_MANIFEST, json));
  if (!read.ok) {
    const [first] = read.mismatches;
    const place = visible(first?.path.join('.') ?? '', 100) || 'its top';
    return `The manifest does not fit at ${place}: expected ${first?.expected}.`;
  }
  const manifest = read.value;
  return manifestProblem(manifest) ?? manifest;
}

function manifestProblem({ name, input, hosts, files, secrets }: ToolManifest): string | undefined {
  if (!NAME.test(name)) return 'A name has small letters, digits, _ and -.';
  const host = hosts.find((one) => !HOST.test(one.host));
  if (host !== undefined) return `${visible(host.host, 100)} is no name of a host.`;
  if (hosts.some(({ paths }) => paths.some((path) => !path.startsWith('/')))) {
    return 'A path begins with /.';
  }
  if (files.some((path) => !path.startsWith('/') || /\/\.\.?(?:\/|$)/.test(path))) {
    return 'A file is named by an absolute path without dots.';
  }
  const declared = new Set(hosts.map((one) => one.host));
  const secret = secrets.find((one) => !declared.has(one.host) || !HEADER.test(one.header));
  if (secret !== undefined)
    return `The secret ${visible(secret.ref, 100)} goes to a host that is not declared, or in no header.`;
  const unreadable = secrets.find(({ ref }) => parseSecretRef(ref) === undefined);
  if (unreadable !== undefined)
    return `${visible(unreadable.ref, 100)} is no reference to a secret like sub://NAME.`;
  const missing = input.required.find((one) => input.properties[one] === undefined);
  if (missing !== undefined)
    return `The argument ${visible(missing, 100)} is required and not described.`;
  return undefined;
}

export interface SandboxServerOptions {
  readonly tools: readonly InstalledTool[];
  readonly ports: SandboxPorts;
}

export function sandboxServer({ tools, ports }: SandboxServerOptions): OwnServer {
  return { name: 'tools', tools: tools.map((tool) => sandboxedTool(tool, ports)) };
}

function sandboxedTool({ manifest, program }: InstalledTool, ports: SandboxPorts): OwnTool {
  const shape: ObjectShape = closed(inputFields(manifest));
  const parse = parserFor<JsonObject>(shape);
  return {
    name: manifest.name,
    description: manifest.description,
    inputSchema: shapeSchema(shape),
    annotations: {
      readOnlyHint: manifest.reads_only,
      idempotentHint: false,
      openWorldHint: manifest.hosts.length > 0,
    },
    call: async (args, { signal }): Promise<OwnAnswer> => {
      const read = parse(args);
      if (!read.ok)
        return { text: 'The arguments do not fit the schema of the tool.', isError: true };
      const outcome = await runSandboxed({ program, manifest, input: read.value, ports, signal });
      const log = outcome.log === '' ? '' : `\n\nLog:\n${outcome.log}`;
      if (outcome.kind === 'failed') return { text: outcome.why + log, isError: true };
      const { value } = outcome;
      return { text: (typeof value === 'string' ? value : JSON.stringify(value)) + log };
    },
  };
}

function inputFields({ input }: ToolManifest): { readonly [name: string]: Field } {
  const { properties, required: names } = input;
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { type, description, enum: values, items } = property;
      const one = type === 'array' ? array(plainShape(items?.type ?? 'string')) : plainShape(type);
      const shape = values !== undefined && type === 'string' ? oneOf(...values) : one;
      return [
        name,
        names.includes(name) ? required(shape, description) : optional(shape, description),
      ];
    }),
  );
}

function plainShape(
  type: 'string' | 'number' | 'integer' | 'boolean',
): Exclude<Shape, { kind: 'nullable' }> {
  switch (type) {
    case 'string':
      return string({ lengthMin: 0 });
    case 'number':
      return number();
    case 'integer':
      return integer();
    case 'boolean':
      return boolean();
  }
}
