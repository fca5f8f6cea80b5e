// Runs the stand-ins of mail and calendar until it is stopped, and prints how to reach them as one line of JSON:
// `node tools/run.mjs test/steward/stand-ins/serve-stand-ins.ts`.
import { startCalendar } from './calendar.ts';
import { startMail } from './mail.ts';

const [mail, calendar] = await Promise.all([startMail(), startCalendar()]);
mail.deliver(`From: Grace Hopper <grace@example.com>
To: ada@example.com
Date: ${new Date().toUTCString()}
Subject: Tea on Friday
Message-ID: <tea@example.com>

Dear Ada, will you come to tea on Friday at 16:00? Grace
`);
const { user, password, imapPort, smtpPort } = mail;
const reach = {
  mail: { user, password, imapPort, smtpPort },
  calendar: { url: calendar.url, user: calendar.user, password: calendar.password },
};
process.stdout.write(`${JSON.stringify(reach)}\n`);
process.once('SIGTERM', () => {
  void Promise.all([mail.stop(), calendar.stop()]).then(() => process.exit(0));
});
