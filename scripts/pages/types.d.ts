// Answers of the API, with the fields that the pages read.

type Tone = "good" | "busy" | "warn" | "bad" | "quiet" | "";

type Usage = {
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cost_usd?: number | null;
};

/** Milliseconds by stage, each name with the ending `_ms`. */
type Timings = Record<string, number>;

type Arguments = Record<string, any>;

type Step = {
  id: string;
  tool: string;
  action?: string | null;
  title?: string;
  arguments?: Arguments | null;
  status: string;
  error?: string | null;
  /** Unix seconds. */
  started_at: number;
  ended_at?: number | null;
  /** Seconds of the recording's video. */
  video_start?: number | null;
  screenshot_file_id?: string | null;
  details?: { native_point?: [number, number] } & Record<string, any>;
  timings?: Timings | null;
  usage?: Usage | null;
};

type Chat = {
  id: string;
  title?: string;
  mode: string;
  state: string;
  outcome?: string | null;
  turn: number;
  model?: string | null;
  desktop_id?: string | null;
  parent_id?: string | null;
  created_at: number;
  updated_at: number;
  started_at?: number | null;
  ended_at?: number | null;
  step_count?: number;
  thumbnail_file_id?: string | null;
  children?: string[];
  report?: string | null;
  last_error?: string | null;
  last_step?: Pick<Step, "tool" | "action" | "title" | "arguments"> | null;
  usage?: Usage | null;
  times?: Timings | null;
};

type ChatFile = { id: string; kind: string; name: string; size: number; metadata?: { path?: string } };

/** The chat of a run's page, with what belongs to it. */
type RunChat = Chat & {
  steps: any[];
  files: ChatFile[];
  waiting_for?: { text: string } | null;
  status_message?: { text: string } | null;
  requires_action?: any;
  archived?: boolean;
};

type RunPart = { bytes: number; video_s?: number | null; pinned?: boolean };

/** The answer of `GET runs/ID`. */
type Run = {
  chat: RunChat;
  recordings: RunPart[];
  children: Chat[];
  changed_turns: number[];
  people?: any[];
  /** The name of the person who started it; empty for others. */
  owner: string;
  /** What the credential of the page permits: `write`, `stop` or `read`. */
  rights: string;
  reads_conversation: boolean;
  video?: any;
};

/** Served by both services from their own folder. */
declare module "*/viewer/viewer.js" {
  export const Viewer: typeof import("../../vncbridge/viewer/assets/viewer.js").Viewer;
  export type Viewer = import("../../vncbridge/viewer/assets/viewer.js").Viewer;
}

declare module "*/viewer/page_key.js" {
  type Module = typeof import("../../vncbridge/viewer/assets/page_key.js");
  export const fetchKeyed: Module["fetchKeyed"];
  export const keyHeader: Module["keyHeader"];
  export const leaveTabSession: Module["leaveTabSession"];
  export const showFile: Module["showFile"];
  export const ticketLinks: Module["ticketLinks"];
  export const ticketed: Module["ticketed"];
}

declare module "*/viewer/wishes.js" {
  export const wishes: typeof import("../../vncbridge/viewer/assets/wishes.js").wishes;
}
