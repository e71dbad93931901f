// Text of a terminal: lines of pieces with the colours that ECMA-48 SGR sequences give them.

/**
 * @typedef {{text: string, style: string}} Piece  `style` is a list of class names
 * @typedef {{fg: string, bg: string, bold: boolean, dim: boolean, italic: boolean, underline: boolean}} Style
 */

const PLAIN = { fg: "", bg: "", bold: false, dim: false, italic: false, underline: false };
// CSI sequences, OSC sequences up to BEL or ST, and other escapes of two characters.
const ESCAPE = /\x1b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/g;
const CUBE = 6;

/** The name of one of the 16 colours that is nearest to a colour of the 256.  @param {number} number */
function nearest(number) {
  if (number < 16) {
    return String(number);
  }
  if (number >= 232) {
    return number < 238 ? "0" : number < 244 ? "8" : number < 250 ? "7" : "15";
  }
  const rest = number - 16;
  const parts = [Math.floor(rest / (CUBE * CUBE)), Math.floor(rest / CUBE) % CUBE, rest % CUBE];
  return ofParts(parts.map((part) => (part / (CUBE - 1)) * 255));
}

/** @param {number[]} parts  red, green and blue from 0 to 255 */
function ofParts(parts) {
  const most = Math.max(...parts);
  const bits = parts.map((part) => (most >= 64 && part > most / 2 ? 1 : 0));
  return String(bits[0] + 2 * bits[1] + 4 * bits[2] + (most > 191 ? 8 : 0));
}

/** Reads the colour after 38 or 48; returns how many codes belong to it.
 *  @param {number[]} codes @param {number} at @returns {[string, number]} */
function extended(codes, at) {
  if (codes[at] === 5) {
    return [nearest(codes[at + 1] || 0), 2];
  }
  return codes[at] === 2 ? [ofParts(codes.slice(at + 1, at + 4)), 4] : ["", 1];
}

/** @param {Style} style @param {string} parameters @returns {Style} */
function changed(style, parameters) {
  const codes = parameters.split(/[;:]/).map(Number);
  let now = { ...style };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 0) {
      now = { ...PLAIN };
    } else if (code === 38 || code === 48) {
      const [colour, count] = extended(codes, at + 1);
      now = code === 38 ? { ...now, fg: colour } : { ...now, bg: colour };
      at += count;
    } else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      now.fg = String(code < 90 ? code - 30 : code - 82);
    } else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) {
      now.bg = String(code < 100 ? code - 40 : code - 92);
    } else {
      now = { ...now, ...ATTRIBUTES[code] };
    }
  }
  return now;
}

/** @type {Record<number, Partial<Style>>} */
const ATTRIBUTES = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  39: { fg: "" },
  49: { bg: "" },
};

/** @param {Style} style */
function classesOf(style) {
  return [
    style.fg && `fg${style.fg}`,
    style.bg && `bg${style.bg}`,
    style.bold && "bold",
    style.dim && "dim",
    style.italic && "italic",
    style.underline && "underline",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Reads one line after the other: a colour stays until it is changed. */
export class AnsiReader {
  constructor() {
    /** @type {Style} */
    this.style = PLAIN;
  }

  /** @param {string} line @returns {Piece[]} */
  line(line) {
    /** @type {Piece[]} */
    const pieces = [];
    let from = 0;
    /** @param {string} text */
    const add = (text) => {
      const shown = text.replace(CONTROL, "");
      if (shown) {
        pieces.push({ text: shown, style: classesOf(this.style) });
      }
    };
    const shown = line.replace(/\r+$/, "");
    for (const match of shown.matchAll(ESCAPE)) {
      add(shown.slice(from, match.index));
      from = match.index + match[0].length;
      if (match[2] === "m") {
        this.style = changed(this.style, match[1]);
      }
    }
    add(shown.slice(from));
    return pieces;
  }
}

/** The text without sequences and control characters.  @param {string} text */
export function plain(text) {
  return text.replace(ESCAPE, "").replace(CONTROL, "");
}
