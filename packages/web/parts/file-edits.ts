// The edits of files that the arguments of a call hold, in the forms that tools of agents use.
export interface FileEdit {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  /** A write gives the whole file, and does not say what stood there. */
  readonly kind: 'edit' | 'write' | 'insert' | 'delete';
}

const PATHS = ['file_path', 'path', 'filePath', 'filename', 'notebook_path', 'target_file'];
const OLD = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text', 'search'];
const NEW = ['new_string', 'newString', 'new_str', 'newText', 'new_text', 'replace', 'new_source'];
const WRITTEN = ['content', 'contents', 'file_text', 'text', 'code_edit'];
const EDITS_MAX = 50;

type Fields = { readonly [name: string]: unknown };

export function fileEdits(args: unknown): readonly FileEdit[] {
  if (!isFields(args)) return [];
  const path = textIn(args, PATHS) ?? '';
  const parts = Array.isArray(args['edits']) ? args['edits'].filter(isFields) : [args];
  const edits = parts.flatMap((part) => replacement(part, path));
  if (edits.length > 0) return edits.slice(0, EDITS_MAX);
  const patch = texts(args).find(isPatch);
  if (patch !== undefined) return patchEdits(patch, path).slice(0, EDITS_MAX);
  return written(args, path);
}

function replacement(part: Fields, outerPath: string): readonly FileEdit[] {
  const path = textIn(part, PATHS) ?? outerPath;
  const before = textIn(part, OLD);
  const after = textIn(part, NEW);
  if (before !== undefined) return [{ path, before, after: after ?? '', kind: 'edit' }];
  const isInsert = part['insert_line'] !== undefined && path !== '';
  const inserted = after ?? textIn(part, ['insert_text']);
  return isInsert && inserted !== undefined
    ? [{ path, before: '', after: inserted, kind: 'insert' }]
    : [];
}

/** Only with a path: a text alone is no file. */
function written(args: Fields, path: string): readonly FileEdit[] {
  const after = textIn(args, WRITTEN) ?? textIn(args, NEW);
  return path === '' || after === undefined ? [] : [{ path, before: '', after, kind: 'write' }];
}

function isPatch(text: string): boolean {
  return text.includes('*** Begin Patch') || /^@@ /m.test(text);
}

const FILE_LINE =
  /^(?:\*\*\* (?<verb>Add|Update|Delete) File: (?<named>.+)|\+\+\+ (?:b\/)?(?<now>[^\t]+).*)$/;
const HEAD_LINE =
  /^(?:--- |diff --git |index |\*\*\* (?:Begin Patch|End Patch|Move to: |End of File))/;

/** A unified diff, or a patch between `*** Begin Patch` and `*** End Patch`. */
function patchEdits(patch: string, outerPath: string): readonly FileEdit[] {
  const edits: { path: string; before: string[]; after: string[]; kind: FileEdit['kind'] }[] = [];
  const current = () => {
    const last = edits.at(-1) ?? { path: outerPath, before: [], after: [], kind: 'edit' as const };
    if (edits.length === 0) edits.push(last);
    return last;
  };
  let before = '';
  for (const line of patch.split('\n')) {
    const { verb, named, now } = FILE_LINE.exec(line)?.groups ?? {};
    const path = named ?? (now === '/dev/null' ? before : now);
    if (line.startsWith('--- ')) before = line.slice(4).replace(/^a\//, '').split('\t')[0] ?? '';
    if (path !== undefined) {
      const isDeleted = verb === 'Delete' || now === '/dev/null';
      const kind = isDeleted
        ? 'delete'
        : verb === 'Add' || before === '/dev/null'
          ? 'write'
          : 'edit';
      edits.push({ path, before: [], after: [], kind });
    } else if (!HEAD_LINE.test(line)) {
      addLine(line, current());
    }
  }
  return edits.map((edit) => ({
    ...edit,
    before: edit.before.join('\n'),
    after: edit.after.join('\n'),
  }));
}

function addLine(line: string, to: { readonly before: string[]; readonly after: string[] }): void {
  const text = line.slice(1);
  // The head of a hunk tells where it is: both sides have it.
  const isBoth = line.startsWith(' ') || line.startsWith('@@');
  if (isBoth || line.startsWith('-')) to.before.push(line.startsWith('@@') ? line : text);
  if (isBoth || line.startsWith('+')) to.after.push(line.startsWith('@@') ? line : text);
}

/** The texts among the arguments, and those in lists: a command may be a list of words. */
function texts(args: Fields): readonly string[] {
  return Object.values(args)
    .flatMap((value): unknown[] => (Array.isArray(value) ? value : [value]))
    .filter((value) => typeof value === 'string');
}

function textIn(fields: Fields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value === 'string') return value;
  }
  return undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
