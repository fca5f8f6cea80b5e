// Programs that read, write, list and change files.
import { type SpecDraft, specsOf } from './spec.ts';

const NOTHING = { operands: ['none'] } as const satisfies SpecDraft;
const WRITES = { operands: ['write'] } as const satisfies SpecDraft;

/** The first operand is a pattern, unless an option gives it. */
const SEARCH = {
  operands: ['none', 'read'],
  replacesFirst: '-e -f --regexp --file --files --type-list',
} as const satisfies SpecDraft;
const CONTEXT = '-e --regexp -m --max-count -A -B -C --context --after-context --before-context';

export const FILE_SPECS = specsOf({
  ': true false echo printf exit return break continue shift wait jobs fg bg disown ulimit umask times dirs getopts read mapfile readarray let declare local typeset export readonly unset trap kill pkill killall pgrep sleep seq whoami id groups hostname uname arch nproc uptime free ps top htop tty stty clear reset tput history type which whereis hash info help expr factor yes logname who w locale getconf sync bind complete compgen compopt shopt set caller logout suspend enable unalias basename dirname pathchk cal bc dc sw_vers lscpu lsblk lsof netstat df pwd':
    NOTHING,
  // Options without a value: what stands behind them is a file.
  'cat tac less more zless zmore zcat bzcat xzcat bat batcat rev file ls ll vdir eza exa lsd realpath readlink cksum sum shasum md5 md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum strings tsort expand unexpand paste join look':
    {},
  od: { values: { '-A -j -N -S -t --address-radix --skip-bytes --read-bytes --format': 'none' } },
  nl: { values: { '-b -d -f -h -i -l -n -s -v -w': 'none' } },
  hexdump: { values: { '-e -n -s': 'none', '-f': 'read' } },
  'fold fmt': { values: { '-w --width': 'none' } },
  iconv: { values: { '-f -t --from-code --to-code': 'none', '-o --output': 'write' } },
  'head tail': { values: { '-n --lines -c --bytes -s --sleep-interval --pid': 'none' } },
  wc: { values: { '--files0-from': 'instructions' } },
  'ls dir': { values: { '-I --ignore --hide --width --tabsize': 'none' } },
  tree: { values: { '-L -P -I --filelimit --charset --sort': 'none', '-o': 'write' } },
  du: {
    values: {
      '-d --max-depth -B --block-size -t --threshold --exclude': 'none',
      '-X --exclude-from': 'read',
      '--files0-from': 'instructions',
    },
  },
  cut: {
    values: { '-d --delimiter -f --fields -c --characters -b --bytes --output-delimiter': 'none' },
  },
  tr: NOTHING,
  date: {
    operands: ['none'],
    values: { '-d --date -s --set -I --rfc-3339 -v -j': 'glued', '-f --file --reference': 'read' },
  },
  last: { operands: ['none'], values: { '-f --file': 'read', '-n -t -s -p': 'none' } },
  ss: {
    operands: ['none'],
    values: { '-F --filter': 'read', '-D --diag': 'write', '-f -A': 'none' },
  },
  // `man ./page` shows a file.
  man: {
    operands: ['package'],
    values: {
      '-P --pager -H --html': 'command',
      '-M -S -s -L -k -f -r': 'none',
      '-C': 'instructions',
    },
  },
  sort: {
    values: {
      '-k --key -t --field-separator -S --buffer-size --parallel --batch-size': 'none',
      '-o --output': 'write',
      '-T --temporary-directory --random-source': 'read',
      '--files0-from': 'instructions',
      '--compress-program': 'command',
    },
  },
  uniq: {
    operands: ['read', 'write'],
    values: { '-f -s -w --skip-fields --skip-chars --check-chars': 'none' },
  },
  'diff colordiff': {
    readsTrees: '-r --recursive -N --new-file -P --unidirectional-new-file',
    values: { '-U -C -I -x --exclude -W --width --label -L -F -S': 'none', '-X': 'read' },
  },
  cmp: { values: { '-i -n --ignore-initial --bytes': 'none' } },
  'base64 base32': {
    values: { '-w --wrap -b': 'none', '-i --input': 'read', '-o --output': 'write' },
  },
  xxd: { operands: ['read', 'write'], values: { '-c -g -l -s -o -n': 'none' } },
  stat: { values: { '-c --format --printf': 'none' } },
  'grep egrep fgrep zgrep pcregrep ugrep': {
    readsTrees: '-r -R --recursive --dereference-recursive -d --directories',
    ...SEARCH,
    values: {
      [`${CONTEXT} --include --exclude --exclude-dir -d -D --binary-files --label`]: 'none',
      '-f --file --exclude-from': 'read',
    },
  },
  'ag ack': {
    readsTrees: '-u --unrestricted --hidden -a --all-types',
    ...SEARCH,
    values: { '-A -B -C -m -G --ignore': 'none' },
  },
  rg: {
    readsTrees: '-. --hidden -u -uu -uuu --unrestricted',
    ...SEARCH,
    values: {
      [`${CONTEXT} -g --glob --iglob -t --type -T --type-not -j --threads -M --max-columns -r --replace -E --encoding --sort --sortr --color --max-depth -d --engine --max-filesize`]:
        'none',
      '-f --file --ignore-file': 'read',
      '--pre --hostname-bin': 'command',
    },
  },
  'fd fdfind': {
    ...SEARCH,
    values: {
      '-e --extension -t --type -d --max-depth --min-depth -E --exclude -c --color -j --threads -S --size --changed-within --changed-before':
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
  'jq gojq jaq': {
    operands: ['query', 'read'],
    values: {
      '--arg --argjson': 'named_text',
      '--slurpfile --rawfile': 'named_file',
      '-f --from-file -L --library-path': 'read',
      '--indent': 'none',
    },
    replacesFirst: '-f --from-file',
  },
  yq: {
    operands: ['query', 'read'],
    verbs: 'e eval ea eval-all',
    values: {
      '--arg --argjson': 'named_text',
      '--slurpfile --rawfile': 'named_file',
      '--expression': 'query',
      '--from-file': 'read',
      '-o --output-format -p --input-format -I --indent --xml-attribute-prefix': 'none',
    },
    replacesFirst: '--from-file --expression',
    changesWith: '-i --inplace --in-place',
  },
  find: { hasLongDashes: true },
  'tee sponge': WRITES,
  'rm rmdir unlink': { operands: ['remove'] },
  touch: { operands: ['write'], values: { '-t -d --date': 'none', '-r --reference': 'read' } },
  'mkdir mkfifo mknod': { operands: ['write'], values: { '-m --mode': 'none' } },
  shred: { operands: ['remove'], values: { '-n -s --iterations --size': 'none' } },
  truncate: { operands: ['write'], values: { '-s --size': 'none', '-r --reference': 'read' } },
  fallocate: { operands: ['write'], values: { '-l -o --length --offset': 'none' } },
  'chmod chown chgrp chattr': {
    operands: ['none', 'write'],
    values: { '--reference': 'read' },
    replacesFirst: '--reference -x -w -r -X -rw -rwx -wx',
  },
  setfacl: { operands: ['write'], values: { '-m -x --modify --remove': 'none', '-M -X': 'read' } },
  'cp install ditto': {
    puts: true,
    readsTrees: '-r -R -a --recursive --archive',
    operands: ['read'],
    last: 'write',
    values: {
      '-t --target-directory': 'write',
      '-S --suffix -m --mode -o --owner -g --group': 'none',
    },
  },
  // The expression, or two words, and the files.
  'rename prename': { operands: ['none', 'move'] },
  mv: {
    puts: true,
    operands: ['move'],
    last: 'write',
    values: { '-t --target-directory': 'write', '-S --suffix': 'none' },
  },
  'ln link': {
    puts: true,
    operands: ['read'],
    last: 'write',
    values: { '-t --target-directory': 'write', '-S --suffix': 'none' },
  },
  dd: { operands: ['setting'] },
  csplit: {
    operands: ['read', 'none'],
    values: { '-b -n --digits --suffix-format': 'none', '-f --prefix': 'write' },
  },
  split: {
    operands: ['read', 'write'],
    values: {
      '-b -l -n -a -C -t --bytes --lines --number --suffix-length --additional-suffix --separator':
        'none',
      '--filter': 'command',
      '-f --prefix': 'write',
    },
  },
  shuf: { values: { '-n --head-count -i --input-range': 'none', '-o --output': 'write' } },
  'dos2unix unix2dos': { operands: ['change'], values: { '-c --convmode': 'none' } },
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
    readsTrees: '-r -R',
    operands: ['write', 'read'],
    values: { '-x -i -P -n -t -tt -b': 'none', '-TT --unzip-command': 'command' },
  },
  unzip: { operands: ['read', 'none'], values: { '-d': 'write', '-x -P': 'none' } },
  'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli compress uncompress': {
    operands: ['change'],
    values: { '-o --output': 'write', '-S --suffix -T --threads -b -D': 'none' },
  },
  'ar ranlib': { operands: ['none', 'write', 'read'] },
  '7z 7za 7zz 7zr': { readsTrees: 'always', operands: ['none', 'write', 'read'] },
  'pax restic borg duplicity kopia': { readsTrees: 'always', operands: ['read'] },
  mktemp: { operands: ['write'], values: { '-p --tmpdir': 'write', '--suffix': 'none' } },
  'vi vim nvim view vimdiff gvim rvim nano emacs code subl pico ed ex open xdg-open': {
    operands: ['edited'],
    values: { '-c --cmd --eval -eval -f --funcall': 'code', '-S -u -l --load': 'read' },
  },
  'mount umount': { operands: ['path'], values: { '-t -o': 'none' } },
  crontab: { operands: ['read'], values: { '-u': 'none' } },
});
