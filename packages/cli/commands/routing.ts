// `sub routing`: how the gateway chose where turns go.
import { failure } from '@subluminal/contracts';
import { type RecordedLink, type ReplayedChoice, replayChoice } from '@subluminal/core/routing';
import { sha256 } from '@subluminal/plane/crypto';
import { defineCommand, EXIT, orThrow, printout, textOption } from '../input/command.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

export const replay = defineCommand({
  description:
    'Chooses again where a turn of the gateway went, from what was recorded with it: the session, the pools with their weights, the constraints and the breakers. Each choice must come out as it was recorded.',
  args: { trace: 'The trace of the turn, as the header X-AICG-Trace-Id names it' },
  options: {
    config: textOption('dir', 'The configuration of the gateway (default: the current folder)'),
  },
  examples: [
    'sub routing replay 0198c1de-7a40-7c3e-8b7e-1f0a5d2c9b11 --config gateway/',
    'sub routing replay 0198c1de-7a40-7c3e-8b7e-1f0a5d2c9b11 --config gateway/ --json',
  ],
  exitCodes: {
    0: 'every choice comes out as it was recorded',
    1: 'a choice comes out otherwise, or its record cannot be read',
    2: 'wrong flags, no such turn, a configuration with errors, or a database that cannot be opened',
  },
  run: async ({ args, options }) => {
    const { trace } = args;
    const { openGateway } = await import('../gateway/open-store.ts');
    const { config, store } = orThrow(await openGateway(options.config ?? '.'));
    try {
      const found = await store.records.trace(config.settings.tenantId, trace);
      const rows = found?.routing ?? [];
      if (rows.length === 0) {
        const message = `The gateway has no record of where the turn ${trace} went.`;
        orThrow(
          failure('SUB_TRACE_UNKNOWN', message, 'Take the trace from an answer or the audit.'),
        );
      }
      const { SHADOW_ATTEMPT } = await import('@subluminal/gateway/store');
      const replayed = rows.map(({ attemptNo, choice }) => {
        const isShadow = attemptNo === SHADOW_ATTEMPT;
        return { attempt: attemptNo, is_shadow: isShadow, ...replayChoice(choice, sha256) };
      });
      const isSame = replayed.every(({ kind }) => kind === 'same');
      const document = { trace, same: isSame, choices: replayed };
      return printout(document, replayText(replayed), isSame ? EXIT.fine : EXIT.findings);
    } finally {
      await store.close();
    }
  },
});

type ReplayedAttempt = ReplayedChoice & { readonly attempt: number; readonly is_shadow: boolean };

function replayText(replayed: readonly ReplayedAttempt[]): string {
  const lines = replayed.flatMap((choice) => {
    const at = choice.is_shadow ? 'Shadow' : `Attempt ${choice.attempt}`;
    if (choice.kind === 'unreadable')
      return [`${at}: the record cannot be read`, ...choice.problems];
    const chain = choice.chain.map(linkText).join(', then ') || 'nowhere';
    if (choice.kind === 'same') return [`${at}: as recorded: ${chain}`];
    return [`${at}: otherwise than recorded: ${chain}`, ...choice.differences];
  });
  const different = replayed.filter(({ kind }) => kind !== 'same').length;
  const summary =
    different === 0
      ? `${plural(replayed.length, 'choice')} replayed, all as recorded.`
      : `${plural(replayed.length, 'choice')} replayed, ${different} otherwise than recorded.`;
  return [...lines, summary].map(harmlessLine).join('');
}

function linkText({ pool, endpoint_id, model }: RecordedLink): string {
  return `${endpoint_id}:${model} (${pool})`;
}
