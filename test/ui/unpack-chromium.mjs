// Unpacks the Chromium of its package into TMPDIR, and prints where it is.
import chromium from '@sparticuz/chromium';

process.stdout.write(await chromium.executablePath());
