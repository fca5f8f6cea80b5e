// Personal data that is known by the word before it. Names and addresses have no checksum: they are
// hints, and nothing more.
import { first, keywordsIn, type Phrase } from './phrase.ts';

const phrase = (data: Omit<Phrase, 'class' | 'over' | 'score'>): Phrase => ({
  class: 'personal',
  over: 'marks',
  score: 1,
  definitionScore: 0,
  ...data,
});

const STREETS =
  'street|st\\.|avenue|ave\\b|road|rd\\.|lane|drive|boulevard|blvd|court|square|strasse|straße|platz|allee|weg|rue|via|calle|plaza';

export const LABELLED: readonly Phrase[] = [
  phrase({
    id: 'person-name',
    label: 'may be the name of a person',
    keywords: keywordsIn(`full name|first name|last name|patient name|customer name|name:|"name":|
      patient:|cardholder|dear mr|dear ms|dear mrs|surname`),
    exactCase: true,
    pattern:
      '(?:[Ff]ull [Nn]ame|[Ff]irst [Nn]ame|[Ll]ast [Nn]ame|[Pp]atient [Nn]ame|[Cc]ustomer [Nn]ame|"?[Nn]ame"?|[Pp]atient|[Cc]ardholder(?: [Nn]ame)?|[Ss]urname|[Dd]ear (?:Mr|Ms|Mrs)\\.?)["\']?(?: ?[:=] ?| is | )["\']?[A-Z][a-z]{1,20}(?: [A-Z]\\.?)?(?: [A-Z][a-z]{1,24}){1,2}',
  }),
  phrase({
    id: 'postal-address',
    label: 'may be a postal address',
    keywords: keywordsIn(`address:|"address":|lives at|live at|resides at|ship to|deliver to|
      home address|billing address|shipping address|street address`),
    pattern: `(?:(?:home |billing |shipping |street )?"?address"?|lives? at|resides at|ship to|deliver to)${first('sign', `["']?(?: ?[:=] ?| is | )["']?`)}(?:${first('number', `[^\\n]{0,40}?\\b\\d{1,5}\\w? `)}.{0,90}?(?:${STREETS})|.{0,70}?(?:${STREETS}) ?\\d{1,4})`,
  }),
  phrase({
    id: 'birth-date',
    label: 'may be a date of birth',
    keywords: keywordsIn(`date of birth|dob|birthdate|birth date|birthday|born on|date_of_birth`),
    pattern:
      '(?:date[ _]of[ _]birth|dob|birth ?date|birthday|born on)["\']?(?: ?[:=] ?| is | )["\']?(?:\\d{4}-\\d{2}-\\d{2}|\\d{1,2}[./-]\\d{1,2}[./-]\\d{2,4}|\\d{1,2}\\.? \\w{3,9} \\d{4}|\\w{3,9} \\d{1,2},? \\d{4})',
  }),
];
