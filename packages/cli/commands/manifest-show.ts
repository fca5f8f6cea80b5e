import { loadManifest } from '@subluminal/plane/surface';
import { defineCommand, done, EXIT, orThrow } from '../input/command.ts';
import { SERVER_DOC } from '../input/shared-options.ts';
import { renderProblem } from '../policy/render-problem.ts';
import { countWords, otherLines, toolLines, toolRows } from '../surface/render-manifest.ts';
import { surfaceHome } from '../surface/surface-home.ts';
import { harmless, harmlessLine, jsonText } from '../terminal/text.ts';

const HASH_SHOWN = 12;

export const command = defineCommand({
  description:
    'Prints which file is in force for the server, and in words what it allows: each tool with its tier and its limits, the treatment of tools that are not listed, parameters, prompts, resources, the breaker and the size of answers.',
  args: { server: SERVER_DOC },
  examples: ['sub manifest show github', 'sub manifest show github --json'],
  exitCodes: {
    0: 'the manifest is shown, or there is none',
    1: 'the manifest has problems and is not in force',
    2: 'wrong flags, or a configuration that cannot be read',
  },
  run: async ({ args, options }, io) => {
    const home = orThrow(await surfaceHome());
    const { server } = args;
    const { folder, profile } = home;
    const loaded = await loadManifest({ folder, server, profile });
    const { path } = loaded;
    const manifest = loaded.kind === 'manifest' ? loaded.manifest : undefined;
    const problems = loaded.kind === 'problems' ? loaded.problems : [];
    if (options.json) {
      const { manifest_hash: hash = null, document = null } = manifest ?? {};
      const tools = manifest === undefined ? [] : toolRows(manifest);
      io.out.write(jsonText({ server, path, hash, tools, manifest: document, problems }));
    } else if (manifest !== undefined) {
      const hash = manifest.manifest_hash.slice(0, HASH_SHOWN);
      const head = [`${server}: ${countWords(manifest)}`, `${path}, hash ${hash}…`].map(harmless);
      const lines = [...head, ...toolLines(manifest, io.out.colors), ...otherLines(manifest)];
      io.out.write(`${lines.join('\n')}\n`);
    } else if (loaded.kind === 'problems') {
      const { colors, columns } = io.out;
      const lines = loaded.text.split(/\r?\n/);
      for (const one of problems) io.out.write(renderProblem(one, { lines, colors, columns }));
      const without =
        profile === 'production' ? 'does not start' : 'starts without a manifest, and says so';
      io.out.write(harmlessLine(`A shim of ${server} ${without}.`));
    } else {
      const none = `${server} has no manifest: all that it lists is shown. ${path} would be its file.`;
      io.out.write(`${harmless(none)}\nWrite one: sub manifest init ${harmless(server)}\n`);
    }
    return done(problems.length > 0 ? EXIT.findings : EXIT.fine);
  },
});
