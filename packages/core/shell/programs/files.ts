// Programs that read, write, list and change files.
import { type SpecDraft, specsOf } from './spec.ts';

const NOTHING = { operands: ['none'] } as const satisfies SpecDraft;
const WRITES = { operands: ['write'] } as const satisfies SpecDraft;

/** The first operand is a pattern, unless an option gives it. */
const SEARCH = {
  operands: ['none', 'read'],
  replacesFirst: '-e -f --regexp --file --files --type-list',
} as const satisfies SpecDraft;
const CONTEXT =
  '-e --regexp -m --max-count -A -B -C --context --after-context --before-context --color --colour';

export const FILE_SPECS = specsOf({
  ': true false echo printf exit return break continue shift wait jobs fg bg disown ulimit umask times dirs getopts read mapfile readarray let declare local typeset export readonly unset trap kill pkill killall pgrep sleep seq date whoami id groups hostname uname arch nproc uptime free ps top htop tty stty clear reset tput history type which whereis hash man info help expr factor yes logname who w last locale getconf sync bind complete compgen compopt shopt set caller logout suspend enable unalias basename dirname pathchk cal bc dc sw_vers lscpu lsblk lsof netstat ss df pwd':
    NOTHING,
  // Options without a value: what stands behind them is a file.
  'cat tac less more zless zmore zcat bzcat xzcat bat batcat rev file ls ll vdir eza exa lsd realpath readlink cksum sum shasum md5 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum strings tsort expand unexpand paste join look view':
    {},
  'nl od hexdump fold fmt pr column iconv': {
    values: {
      '-w --width -s --separator -b -d -h -i -l -v -N -j -A -t -S -c --columns -f --from-code --to-code':
        'none',
      '-o --output': 'write',
    },
  },
  'head tail': { values: { '-n --lines -c --bytes -s --sleep-interval --pid': 'none' } },
  wc: { values: { '--files0-from': 'read' } },
  'ls dir': { values: { '-I --ignore --hide -w --width -T --tabsize': 'none' } },
  tree: { values: { '-L -P -I --filelimit --charset --sort': 'none', '-o': 'write' } },
  du: {
    values: { '-d --max-depth -B --block-size -t --threshold --exclude': 'none', '-X': 'read' },
  },
  cut: {
    values: { '-d --delimiter -f --fields -c --characters -b --bytes --output-delimiter': 'none' },
  },
  tr: NOTHING,
  sort: {
    values: {
      '-k --key -t --field-separator -S --buffer-size --parallel --batch-size': 'none',
      '-o --output': 'write',
      '-T --temporary-directory --files0-from': 'read',
      '--compress-program': 'command',
    },
  },
  uniq: {
    operands: ['read', 'write'],
    values: { '-f -s -w --skip-fields --skip-chars --check-chars': 'none' },
  },
  'diff colordiff cmp comm': {
    values: {
      '-U --unified -C --context -I -x --exclude -W --width --label -L -i -n --color -F': 'none',
      '-X': 'read',
    },
  },
  'base64 base32': {
    values: { '-w --wrap -b': 'none', '-i --input': 'read', '-o --output': 'write' },
  },
  xxd: { operands: ['read', 'write'], values: { '-c -g -l -s -o -n': 'none' } },
  stat: { values: { '-c --format --printf -f -t': 'none' } },
  'grep egrep fgrep zgrep pcregrep ugrep': {
    ...SEARCH,
    values: {
      [`${CONTEXT} --include --exclude --exclude-dir -d -D --binary-files --label`]: 'none',
      '-f --file --exclude-from': 'read',
    },
  },
  'rg ag ack': {
    ...SEARCH,
    values: {
      [`${CONTEXT} -g --glob --iglob -t --type -T --type-not -j --threads -M --max-columns -r --replace -E --encoding --sort --sortr --max-depth -d --engine --max-filesize`]:
        'none',
      '-f --file --ignore-file': 'read',
      '--pre --hostname-bin': 'command',
    },
  },
  'fd fdfind': {
    ...SEARCH,
    values: {
      '-e --extension -t --type -d --max-depth --min-depth -E --exclude -g --glob -c --color -j --threads -S --size --changed-within --changed-before':
        'none',
    },
  },
  'sed gsed': {
    operands: ['sed_script', 'read'],
    values: {
      '-e --expression': 'sed_script',
      '-f --file': 'read',
      '-l --line-length': 'none',
      '-i --in-place': 'glued',
      '-I': 'glued',
    },
    replacesFirst: '-e -f --expression --file',
    changesWith: '-i -I --in-place',
  },
  'awk gawk mawk nawk': {
    operands: ['awk_script', 'read'],
    values: {
      '-F --field-separator -v --assign': 'none',
      '-f --file': 'read',
      '-i --include': 'read',
      '-e --source': 'awk_script',
    },
    replacesFirst: '-f --file -e --source',
    changesWith: '-i',
  },
  'jq yq gojq': {
    operands: ['none', 'read'],
    values: {
      '--arg --argjson': 'named_text',
      '--slurpfile --rawfile': 'named_file',
      '-f --from-file': 'read',
      '--indent -L': 'none',
    },
    replacesFirst: '-f --from-file',
    changesWith: '-i --inplace',
  },
  find: { hasLongDashes: true },
  'tee sponge': WRITES,
  'rm rmdir unlink': WRITES,
  'touch mkdir shred truncate mkfifo mknod fallocate': {
    operands: ['write'],
    values: {
      '-m --mode -t -d --date -s --size -n --iterations -l --length -o --offset --no-preserve -Z':
        'none',
      '-r --reference': 'read',
    },
  },
  'chmod chown chgrp chattr setfacl': {
    operands: ['none', 'write'],
    values: { '--reference': 'read', '-m -x -M -X --modify --remove': 'none' },
    replacesFirst: '--reference -m -x --modify --remove',
  },
  'cp install ditto': {
    operands: ['read'],
    last: 'write',
    values: {
      '-t --target-directory': 'write',
      '-S --suffix -m --mode -o --owner -g --group --context --backup --reflink --sparse --preserve --no-preserve':
        'none',
    },
  },
  'mv rename': {
    operands: ['change'],
    last: 'write',
    values: { '-t --target-directory': 'write', '-S --suffix --backup': 'none' },
  },
  'ln link': {
    operands: ['read'],
    last: 'write',
    values: { '-t --target-directory': 'write', '-S --suffix': 'none' },
  },
  dd: { operands: ['setting'] },
  'split csplit': {
    operands: ['read', 'write'],
    values: { '-b -l -n -a -C --bytes --lines --number --suffix-length': 'none' },
  },
  patch: {
    operands: ['change', 'read'],
    values: {
      '-i --input': 'read',
      '-o --output -r --reject-file': 'write',
      '-d --directory': 'path',
      '-p --strip -F --fuzz -D -V -z -B': 'none',
    },
  },
  zip: {
    operands: ['write', 'read'],
    values: { '-x -i -P -n -t -tt -b': 'none' },
    hasLongDashes: false,
  },
  unzip: { operands: ['read', 'none'], values: { '-d': 'write', '-x -P': 'none' } },
  'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli compress uncompress': {
    operands: ['change'],
    values: { '-o --output': 'write', '-S --suffix -T --threads -b -D': 'none' },
  },
  'ar ranlib': { operands: ['none', 'write', 'read'] },
  '7z 7za': { operands: ['none', 'write', 'read'] },
  cpio: { operands: ['write'], values: { '-F -I': 'read', '-O': 'write' } },
  mktemp: { operands: ['write'], values: { '-p --tmpdir': 'write', '--suffix': 'none' } },
  'vi vim nvim nano emacs code subl pico ed ex open xdg-open': {
    operands: ['change'],
    values: { '-c --cmd': 'code', '-S -u': 'read' },
  },
  'mount umount': { operands: ['path'], values: { '-t -o': 'none' } },
  crontab: { operands: ['read'], values: { '-u': 'none' } },
});
