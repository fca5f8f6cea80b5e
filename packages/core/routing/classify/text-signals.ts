// What a text shows without being kept: paths, languages, how large a change is, whether something fails.

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    typescript: 'ts tsx mts cts',
    javascript: 'js jsx mjs cjs',
    python: 'py pyi ipynb',
    go: 'go',
    rust: 'rs',
    java: 'java',
    kotlin: 'kt kts',
    swift: 'swift',
    c: 'c h',
    cpp: 'cc cpp cxx hpp hh',
    csharp: 'cs',
    ruby: 'rb',
    php: 'php',
    scala: 'scala',
    elixir: 'ex exs',
    erlang: 'erl',
    haskell: 'hs',
    lua: 'lua',
    dart: 'dart',
    zig: 'zig',
    shell: 'sh bash zsh fish',
    sql: 'sql',
    html: 'html htm',
    css: 'css scss sass less',
    vue: 'vue',
    svelte: 'svelte',
    markdown: 'md mdx',
    yaml: 'yaml yml',
    json: 'json jsonc json5',
    toml: 'toml',
    xml: 'xml',
    terraform: 'tf tfvars hcl',
    protobuf: 'proto',
    graphql: 'graphql gql',
  }).flatMap(([language, endings]) =>
    endings.split(' ').map((ending) => [ending, language] as const),
  ),
);

const PATH_LENGTH_MAX = 400;
const PATHS_IN_TEXT_MAX = 64;
const SEARCHED_LENGTH_MAX = 4_096;
const SEPARATORS = /[\s"'`()<>,;|{}[\]=*]+/;

export function languageOf(path: string): string | undefined {
  if (/(^|[\\/])Dockerfile$/.test(path)) return 'dockerfile';
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  return ending === path.toLowerCase() ? undefined : LANGUAGES.get(ending);
}

/** Whether an argument that is a path names a file of a known kind. */
export function isFilePath(text: string): boolean {
  return text.length <= PATH_LENGTH_MAX && languageOf(text) !== undefined;
}

/** Words that name a file of a known kind, in their order. */
export function pathsIn(text: string): readonly string[] {
  const found = new Set<string>();
  for (const word of text.slice(0, SEARCHED_LENGTH_MAX).split(SEPARATORS)) {
    if (!word.includes('.')) continue;
    // `src/a.ts:12:3` and `a/src/a.ts` of a diff are `src/a.ts`.
    const path = /[.:\d]$/.test(word)
      ? word.replace(/:\d+(:\d+)?:?$/, '').replace(/[.:]+$/, '')
      : word;
    if (isPath(path) && found.add(path).size >= PATHS_IN_TEXT_MAX) break;
  }
  return [...found];
}

function isPath(word: string): boolean {
  return isFilePath(word) && /^[\w./\\~+-]*\w\.\w{1,8}$/.test(word);
}

/** The path below the project; undefined for what stands elsewhere or names a home. */
export function projectPath(path: string, project: string | undefined): string | undefined {
  const plain = path.replaceAll('\\', '/');
  const root = project?.replaceAll('\\', '/').replace(/\/+$/, '');
  const isBelow = root !== undefined && root !== '' && plain.startsWith(`${root}/`);
  const relative = isBelow ? plain.slice(`${root}/`.length) : plain.replace(/^\.\//, '');
  const isElsewhere = /^(\/|~|[A-Za-z]:)/.test(relative) || relative.split('/').includes('..');
  return isElsewhere || relative === '' || relative.length > PATH_LENGTH_MAX ? undefined : relative;
}

const SECURITY_AREA =
  /(^|[\\/._-])(auth|authn|authz|oauth2?|login|signin|passwords?|passwd|secrets?|credentials?|crypto|encryption|keys?|keystore|vault|iam|rbac|acl|permissions?|payments?|billing|tokens?|certs?|certificates?|tls|ssl|sso|saml|session|csrf|cors|firewall|\.env)([\\/._-]|$)/i;

export function isSecurityPath(path: string): boolean {
  return SECURITY_AREA.test(path) || /(^|[\\/])\.env(\.|$)/.test(path);
}

export interface LineCounts {
  readonly added: number;
  readonly removed: number;
}

const PATCH = /^(\*\*\* Begin Patch|diff --git |--- [^\n]+\n\+\+\+ |@@ )/m;

/** The lines that a patch in a text adds and removes. */
export function patchLines(text: string): LineCounts {
  if (!PATCH.test(text)) return { added: 0, removed: 0 };
  let added = 0;
  let removed = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('+') && !line.startsWith('+++')) added += 1;
    else if (line.startsWith('-') && !line.startsWith('---')) removed += 1;
  }
  return { added, removed };
}

export function lineCount(text: string): number {
  return text === '' ? 0 : text.split('\n').length;
}

/** Most texts have none of these, and are done with. */
const FAILURE_MARKS = ['FAIL', 'fail', 'ssertion', 'expected ', '✗', '✘', 'not ok '];
const TEST_FAILURE =
  /\b(\d+ (failed|failing|failures?)|tests? failed|FAILED|FAIL\b|AssertionError|assertion failed|expected [^\n]{1,80} (to|but)|--- FAIL:|test result: FAILED|✗|✘|not ok \d)/;
const NO_FAILURES = /\b0 (failed|failing|failures?)\b/;

export function hasTestFailure(text: string): boolean {
  const isMarked = FAILURE_MARKS.some((mark) => text.includes(mark));
  return isMarked && TEST_FAILURE.test(text.replace(NO_FAILURES, ''));
}

const TRACE_MARKS = [
  'Traceback',
  '  at ',
  '\tat ',
  'goroutine ',
  'panic',
  'File "',
  'Segmentation',
];
const STACK_TRACE =
  /Traceback \(most recent call last\)|^\s{2,8}at [\w$.<>[\] ]{1,120} ?\(?[^\n()]{1,200}:\d+(:\d+)?\)?$|^\s+at [\w.$]{1,200}\([\w.]{1,80}:\d+\)$|^goroutine \d+ \[|^thread '[^'\n]{0,80}' panicked at|^\s{2}File "[^"\n]{1,200}", line \d+|Segmentation fault|panic: /m;

export function hasStackTrace(text: string): boolean {
  return TRACE_MARKS.some((mark) => text.includes(mark)) && STACK_TRACE.test(text);
}
