// Programs that carry files between machines, or talk to them: `curl`, `wget`, `ssh`, `scp`, `socat`.
import type { SpecialRun } from './builtin-runs.ts';
import type { WorkingFolders } from './folders.ts';
import { hostOfUrl } from './hosts.ts';
import { type ParsedArguments, parseArguments } from './options.ts';
import { programSpec } from './programs/index.ts';
import type { ScriptOutline } from './script-outline.ts';
import {
  isOption,
  joinedTexts,
  type NamedRun,
  useArgument,
  useArguments,
  useCode,
} from './use-arguments.ts';

/** Settings of ssh that hold a command, or name code that is loaded. */
const SSH_COMMAND = /^(?:Proxy|Local|Remote|KnownHosts)Command[= ]+(.*)$/is;
const SSH_LOADED = /^(?:Include|PKCS11Provider|SecurityKeyProvider|XAuthLocation)[= ]/i;

/** Notes the options of `ssh` and its kin. */
function useSshOptions(outline: ScriptOutline, run: NamedRun, parsed: ParsedArguments): void {
  for (const { option, role, value } of parsed.values) {
    const [text = ''] = option === '-o' ? value.texts : [];
    const [, inner] = SSH_COMMAND.exec(text) ?? [];
    if (inner !== undefined) outline.runScript(inner, run);
    else if (SSH_LOADED.test(text)) outline.findings.addOpaque('redefined', text);
    else if (option !== '-o' || /^Proxy|^HostName/i.test(text))
      useArgument(outline, run, { role, argument: value });
  }
}

/** Behind the host stands a command that the other machine runs. */
const ssh: SpecialRun = (outline, run) => {
  const spec = programSpec('ssh');
  const own = parseArguments(run.args, spec, { stopsAtOperand: true });
  useSshOptions(outline, run, own);
  const [host, ...words] = run.args.slice(own.operandsAt);
  if (host === undefined) return;
  useArgument(outline, run, { role: 'host', argument: host });
  const rest = parseArguments(words, spec, { stopsAtOperand: true });
  useSshOptions(outline, run, rest);
  for (const line of joinedTexts(outline, words.slice(rest.operandsAt))) {
    if (line !== '') outline.runScript(line, { ...run, feed: undefined });
  }
};

const scp: SpecialRun = (outline, run, parsed) => {
  useSshOptions(outline, run, parsed);
  const spec = programSpec(run.name);
  useArguments(outline, run, { spec, parsed: { ...parsed, values: [] } });
};

/** `curl -w '%output{file}'` writes one, and `-w @file` reads one. */
function useFormat({ findings }: ScriptOutline, { folders }: NamedRun, text: string): void {
  if (text.startsWith('@')) findings.add('read', text.slice(1), folders);
  for (const [, file = ''] of text.matchAll(/%output\{(?:>>)?([^{}]{0,256})\}/g))
    findings.add('write', file, folders);
}

/** `wget -e`: a line of its configuration may say anything, but most often says one thing. */
const HARMLESS_SETTING = /^\s*(?:robots|check_certificate|quiet|tries|timeout)\s*=\s*\w+\s*$/;

/** A file of the same name as the end of the address: `curl -O`, `wget`. */
const download: SpecialRun = (outline, run, parsed) => {
  const { name } = run;
  useArguments(outline, run, { spec: programSpec(name), parsed });
  const has = (pattern: RegExp) => parsed.flags.some((flag) => pattern.test(flag));
  const valuesOf = (pattern: RegExp) =>
    parsed.values.flatMap(({ option, value }) => (pattern.test(option) ? value.texts : []));
  const isCurl = name === 'curl';
  for (const text of isCurl ? valuesOf(/^(?:-w|--write-out)$/) : []) useFormat(outline, run, text);
  for (const text of isCurl ? [] : valuesOf(/^(?:-e|--execute)$/))
    if (!HARMLESS_SETTING.test(text)) useCode(outline, run, text);
  const isSaved = isCurl
    ? has(/^(?:-O|--remote-name(?:-all)?)$/)
    : !has(/^(?:-O|--output-document|--spider)$/);
  if (!isSaved) return;
  const into = valuesOf(/^(?:-P|--directory-prefix|--output-dir)$/);
  const folders = into.length === 0 ? run.folders : run.folders.below(into);
  // The other machine chooses the name.
  if (has(/^(?:-J|--remote-header-name|--content-disposition)$/)) useUnnamed(outline, folders);
  const isSite = !isCurl && has(/^(?:-[rmpx]|--recursive|--mirror|--page-requisites)$/);
  for (const text of parsed.operands.flatMap(({ texts }) => texts)) {
    const file = isSite ? siteFolder(text) : savedName(text);
    if (file === undefined || file === '') continue;
    outline.findings.add('write', file, folders);
    outline.findings.addRemoved(file, folders);
  }
  const isFlat = run.args.some(({ texts }) => texts.some((text) => FLAT.test(text)));
  if (isSite && isFlat) useUnnamed(outline, folders);
};

/** A site without the folder of its name. */
const FLAT = /^(?:-n[Hd]|--no-(?:host-)?directories)$/;

/** Files whose names nobody knows before. */
function useUnnamed({ findings }: ScriptOutline, folders: WorkingFolders): void {
  findings.add('write', '.', folders);
  findings.addPut({ from: undefined, to: '.' }, folders);
}

function savedName(address: string): string | undefined {
  const [path = ''] = address.replace(/^[a-z]+:\/\//i, '').split(/[?#]/, 1);
  return path.includes('/') ? path.replace(/^.*\//s, '') : undefined;
}

/** Everything of a site goes into a folder of its name. */
function siteFolder(address: string): string | undefined {
  return hostOfUrl(address) ?? address.split('/', 1)[0];
}

const CARRIES = /^(?:s3|storage|blob|sync|rsync|cp|upload-batch)$/;

/** `aws s3 sync . s3://x`, `kubectl cp . pod:/x`: all of a folder goes to another machine. */
const upload: SpecialRun = (outline, run, parsed) => {
  useArguments(outline, run, { spec: programSpec(run.name), parsed });
  const texts = parsed.operands.flatMap((operand) => operand.texts);
  const isWhole = parsed.flags.some(
    (flag) => /^(?:-r|-R)$/.test(flag) || isOption(flag, '--recursive'),
  );
  const isCarried = isWhole || texts.some((text) => CARRIES.test(text));
  const named = parsed.values.filter(({ option }) => option === '--from-file');
  const folders = isCarried
    ? texts.filter((text) => !CARRIES.test(text) && !text.includes(':'))
    : [];
  for (const text of [...folders, ...named.flatMap(({ value }) => value.texts)])
    outline.findings.addTree(text, run.folders);
};

/** The ends of `socat`: an address of a network, a file, or a command. */
const socat: SpecialRun = (outline, run, { operands }) => {
  for (const text of operands.flatMap(({ texts }) => texts)) {
    const [, kind = '', rest = ''] = /^([\w-]+):(.*)$/s.exec(text) ?? [];
    const [end = ''] = rest.split(',', 1);
    if (/^(?:exec|system|shell)/i.test(kind)) outline.runScript(end, run);
    else if (/^(?:open|create|file|gopen|pipe|fifo|unix.*)$/i.test(kind))
      outline.findings.add('change', end, run.folders);
    else if (/connect|^(?:tcp|udp|sctp|openssl|ssl|socks|proxy)[46]?/i.test(kind)) {
      if (!/listen|recv/i.test(kind)) outline.findings.add('host', end, run.folders);
    } else outline.findings.add('setting', text, run.folders);
  }
};

export const TRANSFER_RUNS: ReadonlyMap<string, SpecialRun> = new Map<string, SpecialRun>([
  ['ssh', ssh],
  ['scp', scp],
  ['sftp', scp],
  ['curl', download],
  ['wget', download],
  ['socat', socat],
  ...['aws', 'gcloud', 'az', 'kubectl', 'oc'].map((name) => [name, upload] as const),
]);
