// A change that was proposed for somebody on a channel: they are asked there, and again after a restart.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type Conversation, kindGuardian, type Reply } from './model-script.ts';
import { startScriptedModel } from './scripted-model.ts';
import { startTelegram } from './stand-ins/chat/telegram.ts';
import { StewardHome } from './steward-home.ts';

const TIMEOUT_MS = 60_000;

function answer({ results }: Conversation): Reply {
  if (results.length > 0) return { text: 'It is proposed.' };
  const args = { path: 'a.txt', content: 'hi\n', reasoning: 'The user wants it.' };
  return { uses: [{ name: 'files.propose_write', args }] };
}

test(
  'the buttons of a change are there again after Steward was killed, and a press makes it',
  async () => {
    verifies('ST-5.6', 'ST-10-security');
    const top = mkdtempSync(join(tmpdir(), 'sub-steward-'));
    const home = new StewardHome(top);
    const [model, telegram] = await Promise.all([
      startScriptedModel((said) => kindGuardian(said) ?? answer(said)),
      startTelegram(),
    ]);
    onTestFinished(async () => {
      await home.close();
      await Promise.all([model.close(), telegram.close()]);
      rmSync(top, { recursive: true, force: true });
    });
    const { owner } = telegram.users;
    home.env['BOT_TOKEN'] = telegram.secrets['token'];
    await home.sub('steward', 'init', '--model-url', model.url, '--model', 'm');
    const config = join(home.subHome, 'steward', 'config');
    const file = join(config, 'integrations.yaml');
    const settings = { ...(telegram.settings['telegram'] as object), allowed: [owner], groups: [] };
    const channels = { telegram: { ...settings, token_ref: 'env://BOT_TOKEN' } };
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nchannels: ${JSON.stringify(channels)}\n`);
    const asks = ({ text, buttons, isEdit }: (typeof telegram.service.sent)[number]) =>
      !isEdit && buttons.length > 0 && text.includes('+hi');

    const first = await home.start(config);
    await telegram.say({ from: owner, text: 'Write hi.' });
    const old = await telegram.service.until(asks);
    await telegram.service.until(({ text }) => text === 'It is proposed.');
    first.child.kill('SIGKILL');
    await home.start(config);
    const again = await telegram.service.until((message) => message !== old && asks(message));
    const made = join(home.env['HOME'] ?? '', 'Steward', 'a.txt');
    expect(existsSync(made)).toBe(false);
    const yes = again.buttons.find(({ label }) => /approve/i.test(label));
    await telegram.press(owner, telegram.chatOf(owner), yes?.data ?? '');
    await telegram.service.until(({ isEdit, text }) => isEdit && text.includes('approved by'));
    expect(readFileSync(made, 'utf8')).toBe('hi\n');
  },
  TIMEOUT_MS,
);
