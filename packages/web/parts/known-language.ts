// Where the system has no language (`LANG=C`), Chromium says `en-US@posix`, which is no language tag: uPlot, which asks
// for it when it is loaded, would take the whole view down. To be imported before it.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
