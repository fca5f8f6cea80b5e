// Where HTTPS_PROXY is the only way out, every client library takes it.
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { startMail } from '../../../test/steward/stand-ins/mail.ts';
import {
  type ConnectProxy,
  startConnectProxy,
} from '../../plane/os/upstream/connect-proxy.test-support.ts';
import { tunnelAgent } from '../../plane/os/upstream/index.ts';
import { GatewayConnection } from '../channels/discord/gateway-connection.ts';
import { chatClient } from '../channels/slack/chat-client.ts';
import { botApi } from '../channels/telegram/bot-api.ts';
import { withMailbox } from '../tools/email/mailbox.ts';
import { sendBySmtp } from '../tools/email/smtp.ts';
import { mailHost } from '../tools/email/types.ts';

const { signal } = new AbortController();
const token = 'token-of-tests';
const account = {
  address: 'ada@example.com',
  password_ref: 'sub://mail',
  allow_bcc: false,
  imap: { host: 'imap.example.com', tls: 'implicit' },
  smtp: { host: 'smtp.example.com', tls: 'starttls' },
} as const;

describe('a proxy that refuses is asked, and nothing is tried around it', () => {
  let proxy: ConnectProxy;
  beforeEach(async () => {
    proxy = await startConnectProxy();
    return () => proxy.close();
  });
  const env = () => ({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });

  test.each<readonly [string, string, () => Promise<unknown>]>([
    [
      'Telegram',
      'api.telegram.org:443',
      () => botApi({ token, apiRoot: undefined, agent: tunnelAgent(env()) }).getMe(),
    ],
    [
      'Slack',
      'slack.com:443',
      () => chatClient({ token, slackApiUrl: undefined, agent: tunnelAgent(env()) }).auth.test(),
    ],
    [
      'Discord',
      'gateway.discord.gg:443',
      async () => {
        const agent = tunnelAgent(env());
        const connection = new GatewayConnection({ token, agent, onEvent: async () => {} });
        const { kind } = await connection.run('wss://gateway.discord.gg', signal);
        if (kind === 'ended') throw new Error('It has ended.');
      },
    ],
    [
      'IMAP',
      'imap.example.com:993',
      () => {
        const host = mailHost({ account, env: env() }, 'imap');
        return withMailbox({ host, password: 'x', signal }, async () => {});
      },
    ],
    [
      'SMTP',
      'smtp.example.com:587',
      async () => {
        const host = mailHost({ account, env: env() }, 'smtp');
        const envelope = { from: account.address, to: ['bob@example.com'] };
        const raw = Buffer.from('Subject: hi\r\n\r\nhi\r\n');
        const outcome = await sendBySmtp({ host, password: 'x', envelope, raw, signal });
        if (outcome.kind === 'unsent') throw outcome.cause;
      },
    ],
  ])('%s', async (_name, target, use) => {
    verifies('ST-4-ring0');
    await expect(use()).rejects.toBeInstanceOf(Error);
    expect(proxy.asked.map((one) => one.target)).toEqual([target]);
  });
});

test('a mail is sent, and the mailbox is read, through the proxy', async () => {
  const mail = await startMail();
  onTestFinished(() => mail.stop());
  const { user, password } = mail;
  const way = async (protocol: 'imap' | 'smtp', port: number) => {
    const proxy = await startConnectProxy(port);
    onTestFinished(() => proxy.close());
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    return { ...mailHost({ account, env }, protocol), user, tls: 'none' as const };
  };
  const host = await way('smtp', mail.smtpPort);
  const envelope = { from: user, to: ['bob@example.com'] };
  const raw = Buffer.from('Subject: hi\r\n\r\nhi\r\n');
  expect(await sendBySmtp({ host, password, envelope, raw, signal })).toMatchObject({
    kind: 'sent',
  });
  expect(mail.received).toHaveLength(1);
  const login = { host: await way('imap', mail.imapPort), password, signal };
  const folders = await withMailbox(login, (mailbox) => mailbox.list());
  expect(folders.map(({ path }) => path)).toContain('INBOX');
});
