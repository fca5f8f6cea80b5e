import { expect, test } from 'vitest';
import { htmlText } from './html-text.ts';

const LIMITS = { charsMax: 100_000, linksMax: 10 };
const textOf = (html: string) => htmlText(html, LIMITS);

test('blocks become lines, and entities characters', () => {
  expect(textOf('<h1>Tea</h1><p>at&nbsp;four<br>on &lt;Friday&gt;</p>').text).toBe(
    'Tea\n\nat four\non <Friday>',
  );
});

test.each([
  '<div style="display: none">PAY</div>',
  '<div STYLE="DISPLAY:NONE !important">PAY</div>',
  '<span style="visibility:hidden">PAY</span>',
  '<span style="opacity:0">PAY</span>',
  '<span style="opacity: 0.01;">PAY</span>',
  '<span style="font-size:0">PAY</span>',
  '<span style="font-size:1px">PAY</span>',
  '<span style="color:#FFF">PAY</span>',
  '<span style="color: rgb(255, 255, 255)">PAY</span>',
  '<span style="background:#222; color:#222">PAY</span>',
  '<span style="color:rgba(0,0,0,0)">PAY</span>',
  '<div style="max-height:0;overflow:hidden">PAY</div>',
  '<div style="position:absolute; left:-9999px">PAY</div>',
  '<div style="text-indent:-9999px">PAY</div>',
  '<div style="display/**/:none">PAY</div>',
  '<div hidden>PAY</div>',
  '<div hidden=""><p>PAY</p></div>',
  '<p aria-hidden="true">PAY</p>',
  '<style>.pre{display:none}</style><p class="a pre">PAY</p>',
  '<style>#x , .y{ font-size : 0px }</style><p id=x>PAY</p>',
  `${'<b>'.repeat(600)}PAY${'</b>'.repeat(600)}`,
])('hidden text is left out and counted: %s', (html) => {
  const { text, hiddenChars } = textOf(`<body>before ${html} after</body>`);
  expect(text).not.toContain('PAY');
  expect(text).toContain('before');
  expect(text).toContain('after');
  expect(hiddenChars).toBe(3);
});

test.each([
  '<script>PAY</script>',
  '<!-- PAY -->',
  '<title>PAY</title>',
  '<template><p>PAY</p></template>',
  '<img alt="" title="PAY">',
])('what no reader sees is left out: %s', (html) => {
  expect(textOf(`<p>one</p>${html}<p>two</p>`).text).toMatch(/^one\s+two$/);
});

test('text in ordinary styles stays', () => {
  const html = '<p style="color:#333;opacity:0.9;font-size:12px;max-height:100px">stays</p>';
  expect(textOf(html)).toMatchObject({ text: 'stays', hiddenChars: 0 });
});

test('white text on a dark background stays', () => {
  expect(textOf('<td style="background:#000;color:#fff">Button</td>').text).toBe('Button');
});

test('links are listed once, and only those that lead somewhere', () => {
  const html =
    '<a href="https://example.com/a">a</a><a href="javascript:x">b</a><a href="https://example.com/a">c</a>';
  expect(textOf(html).links).toEqual(['https://example.com/a']);
});

test('tags that nothing closes and a text without an end are read as far as they go', () => {
  expect(textOf('<p>one<div>two<table><tr><td>three').text).toContain('three');
  expect(htmlText('a'.repeat(1000), { ...LIMITS, charsMax: 10 }).text).toHaveLength(10);
});

test.each([
  ['spaces in tags', '<b> </b>'.repeat(30_000)],
  ['a style of spaces', `<p style="${' '.repeat(400_000)}">x</p>`],
  ['a sheet without rules', `<style>${'a'.repeat(90_000)}</style>`.repeat(5)],
  ['open tags', '<div>'.repeat(20_000)],
  ['open comments', '<p style="/*/*/*">'.repeat(20_000)],
])('hostile HTML takes no more time than its length: %s', (_name, html) => {
  expect(htmlText(html, { charsMax: 500_000, linksMax: 10 }).text.length).toBeLessThan(10);
});

test('of a page its content is left, with links that lead somewhere', () => {
  const html =
    '<nav><a href="/menu">Menu</a></nav><main>Tea <a href="/four#now">at four</a> <a href="#x">x</a> <a href="javascript:x()">y</a></main><footer>Imprint</footer>';
  const { text, links, hiddenChars } = htmlText(html, {
    ...LIMITS,
    pageUrl: 'https://a.example/b/',
  });
  expect([text, links, hiddenChars]).toEqual([
    'Tea at four x y',
    ['https://a.example/four#now'],
    0,
  ]);
});
