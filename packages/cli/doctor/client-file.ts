// The names and commands of the servers in a client's configuration, and nothing else of it.

interface ClientServer {
  readonly name: string;
  /** The command and its arguments; empty for a server that is reached by its address. */
  readonly command: readonly string[];
}

type JsonObject = { readonly [name: string]: unknown };

const DEPTH_MAX = 4;
/** Where clients keep their servers. */
const SERVER_KEYS: ReadonlySet<string> = new Set(['mcpServers', 'servers']);

/** Undefined when the text is no JSON, with or without comments. */
function jsonServers(text: string): readonly ClientServer[] | undefined {
  const value = parsed(text) ?? parsed(withoutComments(text));
  return isObject(value) ? serversIn(value, 0) : undefined;
}

/** Claude Code keeps some for each project, below `projects`. */
function serversIn(value: JsonObject, depth: number): readonly ClientServer[] {
  if (depth > DEPTH_MAX) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (!isObject(inner)) return [];
    if (!SERVER_KEYS.has(name)) return serversIn(inner, depth + 1);
    return Object.entries(inner).flatMap(([server, one]) =>
      isObject(one) ? [{ name: server, command: commandOf(one) }] : [],
    );
  });
}

function commandOf({ command, args }: JsonObject): readonly string[] {
  if (typeof command !== 'string') return [];
  const rest = Array.isArray(args) ? args.filter((one) => typeof one === 'string') : [];
  return [command, ...rest];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** Comments, and commas before a closing bracket; strings stay as they are. */
const STRING_OR_COMMENT = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g;
const STRING_OR_COMMA = /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g;

function withoutComments(text: string): string {
  const keepStrings = (found: string) => (found.startsWith('"') ? found : ' ');
  return text.replace(STRING_OR_COMMENT, keepStrings).replace(STRING_OR_COMMA, keepStrings);
}

const TABLE = /^\s*\[\s*mcp_servers\s*\.\s*("[^"]+"|'[^']+'|[A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?$/;
const ANY_TABLE = /^\s*\[/;
const ASSIGNED = /^\s*(command|args)\s*=/;
const QUOTED = /"((?:[^"\\]|\\.)*)"|'([^']*)'/g;
const LINES_MAX = 100_000;

/**
 * The tables `[mcp_servers.NAME]` of Codex. Only the strings of `command` and `args` are looked at,
 * so a whole TOML parser is not needed here.
 */
function tomlServers(text: string): readonly ClientServer[] {
  const servers: { readonly name: string; readonly command: string[] }[] = [];
  let current: string[] | undefined;
  let isInArray = false;
  for (const line of text.split('\n').slice(0, LINES_MAX)) {
    if (!isInArray && ANY_TABLE.test(line)) {
      const name = TABLE.exec(line)?.[1];
      current = name === undefined ? undefined : [];
      if (name !== undefined && current !== undefined) {
        servers.push({ name: name.replace(/^["'](.*)["']$/, '$1'), command: current });
      }
    } else if (current !== undefined && (isInArray || ASSIGNED.test(line))) {
      const value: string = isInArray ? line : line.slice(line.indexOf('=') + 1);
      for (const [, double, single] of value.matchAll(QUOTED)) {
        current.push(single ?? unescaped(double ?? ''));
      }
      const bare: string = value.replace(QUOTED, '');
      isInArray = (isInArray || bare.includes('[')) && !bare.includes(']');
    }
  }
  return servers;
}

function unescaped(text: string): string {
  const value = parsed(`"${text}"`);
  return typeof value === 'string' ? value : text;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type { ClientServer };
export { jsonServers, tomlServers };
