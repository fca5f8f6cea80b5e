// Makes a checkout ready: installs and builds, only what is stale. Needs nothing but Node.
// This file keeps to old syntax, so that an old Node reads it and can say that it is too old.
const wanted = [20, 19];
const found = process.versions.node.split('.').map(Number);

if (found[0] < wanted[0] || (found[0] === wanted[0] && found[1] < wanted[1])) {
  process.stderr.write(
    'setup: Node ' +
      process.versions.node +
      ' is too old, Subluminal needs ' +
      wanted.join('.') +
      ' or newer.\n       Install a current Node from https://nodejs.org and run this again.\n',
  );
  process.exit(1);
}

import('./setup/main.mjs')
  .then((setup) => setup.main(process.argv.slice(2)))
  .catch((cause) => {
    process.stderr.write(`setup: ${cause.stack || cause}\n`);
    process.exitCode = 1;
  });
