import { isIPv6 } from 'node:net'

/** A kind of personal data that has a recognisable shape. */
export type PersonalData = {
  label: string
  /** Takes linear time: a match has a limited length and begins only after a character that cannot be part of it. */
  pattern: RegExp
  /** How many characters of a match are of this kind, such as those with a correct checksum; 0 for none. */
  lengthIn?(match: string): number
}

/**
 * The kinds of personal data, with the names of Microsoft's Presidio. If two matches overlap, the kind that comes first
 * here wins.
 */
export const personalData = {
  URL: { label: 'Web addresses', pattern: /(?<!\w)https?:\/\/[^\s<>"'`]{0,2000}[^\s<>"'`.,;:!?)\]]/i },
  EMAIL_ADDRESS: {
    label: 'E-mail addresses',
    pattern:
      /(?<![\p{L}\p{N}_.+%-])[\p{L}\p{N}_.+%-]{1,64}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}_-])/iu,
  },
  IBAN_CODE: {
    label: 'Bank accounts (IBAN)',
    pattern: /(?<![A-Z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Z0-9])/,
    lengthIn: ibanLength,
  },
  CREDIT_CARD: {
    label: 'Credit cards',
    pattern: /(?<![\w-])(?:[2-6]\d{12,18}|[2-6]\d{3}([ -])\d{4}\1\d{4}\1\d{1,7}|3\d{3}([ -])\d{6}\2\d{5})(?![\w-])/,
    lengthIn: whole((match) => hasLuhnDigit(match.replaceAll(/\D/g, ''))),
  },
  CRYPTO: {
    label: 'Cryptocurrency wallets',
    pattern: /(?<!\w)(?:bc1[a-z0-9]{25,59}|[13][a-km-zA-HJ-NP-Z1-9]{25,34}|0x[a-fA-F0-9]{40})(?!\w)/,
  },
  IP_ADDRESS: {
    label: 'IP addresses',
    pattern:
      /(?<![\w.:])(?:(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\w|\.\d)|[0-9a-f:]{3,39}(?![\w:]))/i,
    lengthIn: whole((match) => match.includes('.') || isIPv6(match)),
  },
  US_SSN: {
    label: 'Social security numbers (US)',
    pattern: /(?<![\w-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/,
  },
  US_ITIN: {
    label: 'Taxpayer numbers (US, ITIN)',
    pattern: /(?<![\w-])9\d{2}([- ])(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\1\d{4}(?![\w-])/,
  },
  UK_NINO: {
    label: 'National insurance numbers (UK)',
    pattern: /(?<!\w)(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)/i,
  },
  UK_NHS: {
    label: 'Health service numbers (UK, NHS)',
    pattern: /(?<![\w-])\d{3}([- ])\d{3}\1\d{4}(?![\w-])/,
    lengthIn: whole((match) => weighed(match, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0),
  },
  ES_NIF: {
    label: 'Tax numbers (Spain, NIF)',
    pattern: /(?<!\w)\d{8}-?[A-Z](?!\w)/i,
    lengthIn: whole((match) => hasSpanishLetter(match)),
  },
  ES_NIE: {
    label: 'Foreigner ID numbers (Spain, NIE)',
    pattern: /(?<!\w)[XYZ]-?\d{7}-?[A-Z](?!\w)/i,
    lengthIn: whole((match) =>
      hasSpanishLetter(match.replace(/^[XYZ]/i, (letter) => `${'XYZ'.indexOf(letter.toUpperCase())}`)),
    ),
  },
  IT_FISCAL_CODE: {
    label: 'Tax codes (Italy)',
    pattern: /(?<!\w)[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z](?!\w)/i,
  },
  PL_PESEL: {
    label: 'Identity numbers (Poland, PESEL)',
    pattern: /(?<![\w-])\d{11}(?![\w-])/,
    lengthIn: whole((match) => weighed(match, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0),
  },
  IN_PAN: { label: 'Tax numbers (India, PAN)', pattern: /(?<!\w)[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z](?!\w)/ },
  PHONE_NUMBER: {
    label: 'Phone numbers',
    pattern: /(?<![\w.+-])(?:\+\d|\(\d{2,5}\)|\d)(?:[ ()./-]{0,2}\d){6,15}(?!\w|[-.]\d)/,
    lengthIn: whole(isPhoneNumber),
  },
} as const satisfies Record<string, PersonalData>

export type PersonalDataName = keyof typeof personalData
export const personalDataNames = Object.keys(personalData) as PersonalDataName[]

function whole(isRight: (match: string) => boolean): (match: string) => number {
  return (match) => (isRight(match) ? match.length : 0)
}

/** The length of an IBAN with a correct checksum. Other words may follow the IBAN in the match. */
function ibanLength(match: string): number {
  const wanted = ibanLengths.get(match.slice(0, 2)) ?? 0
  let end = 0
  for (let letters = 0; letters < wanted && end < match.length; end += 1) if (match[end] !== ' ') letters += 1
  const iban = match.slice(0, end).replaceAll(' ', '')
  const isWhole = end === match.length || match[end] === ' '
  return wanted > 0 && iban.length === wanted && isWhole && remainderOf97(iban) === 1 ? end : 0
}

/** The length of an IBAN by country. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 ' +
    'FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 ' +
    'LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 ' +
    'SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

function remainderOf97(iban: string): number {
  let remainder = 0
  for (const letter of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(letter, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder
}

function hasLuhnDigit(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, doubles = false; at >= 0; at -= 1, doubles = !doubles) {
    const digit = Number(digits[at]) * (doubles ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return digits.length >= 13 && digits.length <= 19 && sum % 10 === 0
}

/** The sum of the digits, each multiplied by its weight. */
function weighed(text: string, weights: readonly number[]): number {
  const digits = text.replaceAll(/\D/g, '')
  return weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0)
}

function hasSpanishLetter(match: string): boolean {
  const number = Number(match.replaceAll(/\D/g, ''))
  return match.at(-1)?.toUpperCase() === 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]
}

/** A number is a phone number if it has a country code, or the length and the groups of one. */
function isPhoneNumber(match: string): boolean {
  const digits = match.replaceAll(/\D/g, '').length
  if (match.startsWith('+') || match.startsWith('00')) return digits >= 8 && digits <= 17
  if (digits < 9 || digits > 12 || !/\D/.test(match)) return false
  const isDate = /^(?:\d{4}([-/.])\d\d?\1\d\d?|\d\d?([-/.])\d\d?\2\d{4})(?!\d)/.test(match)
  const isAmount = /^\d{1,3}(?:\.\d{3})+$|^\d+\.\d+$/.test(match)
  return !isDate && !isAmount
}
