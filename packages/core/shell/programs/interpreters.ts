// Shells, and programs that run text in another language.
import { specsOf } from './spec.ts';

export const INTERPRETER_SPECS = specsOf({
  'sh bash zsh dash ksh mksh ash fish rbash csh tcsh posh yash sash osh rc': {
    kind: 'shell',
    values: { '-o +o -O +O': 'none', '--rcfile --init-file': 'read' },
  },
  'python python2 python3 pypy pypy3': {
    kind: 'interpreter',
    values: { '-c': 'code', '-W -X --check-hash-based-pycs': 'none', '-m': 'none' },
    replacesFirst: '-m -c',
  },
  'node nodejs bun-run': {
    kind: 'interpreter',
    values: {
      '-e --eval -p --print -pe': 'code',
      '-r --require --import --loader --experimental-loader --env-file --env-file-if-exists --test-setup':
        'read',
      '-C --conditions --input-type --inspect-port --max-old-space-size --title --stack-trace-limit --test-name-pattern --test-reporter --test-concurrency':
        'none',
      '--test-reporter-destination --cpu-prof-dir --heap-prof-dir --redirect-warnings --diagnostic-dir':
        'write',
    },
    replacesFirst: '-e --eval -p --print',
  },
  deno: {
    operands: ['none', 'read'],
    values: { '-c --config --import-map --env-file --lock': 'read' },
  },
  'tsx ts-node': {
    kind: 'interpreter',
    values: {
      '-e --eval -p --print': 'code',
      '-r --require -P --project --tsconfig --import': 'read',
    },
  },
  perl: {
    kind: 'interpreter',
    values: {
      '-e -E': 'code',
      '-I': 'read',
      '-i -0 -l -F -C -x -V -D -d': 'glued',
      '-M -m': 'none',
    },
    replacesFirst: '-e -E',
    changesWith: '-i',
  },
  'ruby jruby': {
    kind: 'interpreter',
    values: { '-e': 'code', '-I -C': 'read', '-r -E': 'none', '-i -0 -F -K -W -x -T': 'glued' },
    replacesFirst: '-e',
    changesWith: '-i',
  },
  php: {
    kind: 'interpreter',
    values: { '-r -B -R -E': 'code', '-f -F -c': 'read', '-d -S -t -z': 'none' },
    replacesFirst: '-r -f',
  },
  'lua luajit': { kind: 'interpreter', values: { '-e': 'code', '-l': 'none' } },
  'Rscript R': { kind: 'interpreter', values: { '-e': 'code' }, replacesFirst: '-e' },
  'osascript elixir julia groovy scala kotlin ghc tclsh wish expect guile racket clojure sbcl': {
    kind: 'interpreter',
    values: { '-e --eval -c': 'code' },
    replacesFirst: '-e --eval -c',
  },
  'pwsh powershell': {
    kind: 'interpreter',
    hasLongDashes: true,
    values: { '-c -C -Command -command -EncodedCommand -e -enc': 'code', '-File -file -f': 'read' },
  },
  'gnuplot octave octave-cli slsh jrunscript puppet': {
    kind: 'interpreter',
    values: { '-e --eval --exec-path': 'code' },
    replacesFirst: '-e --eval',
  },
  clisp: { kind: 'interpreter', values: { '-x': 'code' }, replacesFirst: '-x' },
  'elvish nu xonsh': { kind: 'interpreter', values: { '-c': 'code' }, replacesFirst: '-c' },
  'gdb lldb': {
    hasLongDashes: true,
    values: { '-ex -iex -o -O -p': 'none', '-x -s -c --command --core': 'read' },
  },
  'sqlite3 duckdb': { operands: ['change', 'code'], values: { '-cmd -separator -init': 'none' } },
});
