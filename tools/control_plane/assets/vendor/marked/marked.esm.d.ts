// The part of the library that the pages use.
export class Marked {
  constructor(options: { gfm: boolean; breaks: boolean; renderer: Record<string, (token: any) => string> });
  parse(text: string): string | Promise<string>;
}
