CREATE TABLE audit (
	writer VARCHAR NOT NULL, 
	n INTEGER NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	actor VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	details JSON NOT NULL, 
	previous VARCHAR NOT NULL, 
	hash VARCHAR NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (writer, n)
);
CREATE INDEX ix_audit_at ON audit (at);
CREATE TABLE begun_sign_ins (
	digest VARCHAR NOT NULL, 
	ends_at DOUBLE PRECISION NOT NULL, 
	redirect_uri VARCHAR NOT NULL, 
	onward VARCHAR NOT NULL, 
	CONSTRAINT pk_begun_sign_ins PRIMARY KEY (digest)
);
CREATE INDEX ix_begun_sign_ins_ends_at ON begun_sign_ins (ends_at);
CREATE TABLE browser_sessions (
	digest VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	scopes JSON NOT NULL, 
	ends_at DOUBLE PRECISION NOT NULL, 
	token_id VARCHAR NOT NULL, 
	CONSTRAINT pk_browser_sessions PRIMARY KEY (digest)
);
CREATE INDEX ix_browser_sessions_token_id ON browser_sessions (token_id);
CREATE TABLE chats (
	id VARCHAR NOT NULL, 
	parent_id VARCHAR, 
	root_id VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	model VARCHAR, 
	state VARCHAR NOT NULL, 
	archived BOOLEAN NOT NULL, 
	desktop_wish VARCHAR, 
	desktop_id VARCHAR, 
	token_name VARCHAR, 
	owner VARCHAR NOT NULL, 
	budget JSON NOT NULL, 
	egress JSON, 
	without_execute BOOLEAN DEFAULT false NOT NULL, 
	approval VARCHAR, 
	domains JSON, 
	look_only BOOLEAN DEFAULT false NOT NULL, 
	status_message JSON, 
	effort VARCHAR, 
	turn INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	driver VARCHAR, 
	generation INTEGER DEFAULT '0' NOT NULL, 
	person_since DOUBLE PRECISION, 
	person_reported VARCHAR, 
	created_at DOUBLE PRECISION NOT NULL, 
	updated_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_chats PRIMARY KEY (id), 
	CONSTRAINT fk_chats_parent_id_chats FOREIGN KEY(parent_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT uq_chats_token_name UNIQUE (token_name)
);
CREATE INDEX ix_chats_created_at ON chats (created_at);
CREATE INDEX ix_chats_parent_id ON chats (parent_id);
CREATE INDEX ix_chats_root_id ON chats (root_id);
CREATE INDEX ix_chats_state ON chats (state);
CREATE TABLE credential_ends (
	id SERIAL NOT NULL, 
	name VARCHAR NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_credential_ends PRIMARY KEY (id)
);
CREATE INDEX ix_credential_ends_at ON credential_ends (at);
CREATE TABLE deployment_facts (
	name VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	CONSTRAINT pk_deployment_facts PRIMARY KEY (name)
);
CREATE TABLE desktops (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR, 
	state VARCHAR NOT NULL, 
	node VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	generation INTEGER NOT NULL, 
	reason VARCHAR NOT NULL, 
	full_nodes JSON, 
	wanted JSON NOT NULL, 
	facts JSON, 
	created_at DOUBLE PRECISION NOT NULL, 
	changed_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_desktops PRIMARY KEY (id)
);
CREATE INDEX ix_desktops_chat_id ON desktops (chat_id);
CREATE INDEX ix_desktops_state ON desktops (state, created_at);
CREATE TABLE issued_tokens (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	scopes JSON NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	ends_at DOUBLE PRECISION, 
	digest VARCHAR NOT NULL, 
	created_by VARCHAR DEFAULT '' NOT NULL, 
	CONSTRAINT pk_issued_tokens PRIMARY KEY (id), 
	CONSTRAINT uq_issued_tokens_digest UNIQUE (digest)
);
CREATE TABLE left_recordings (
	id VARCHAR NOT NULL, 
	desktop_id VARCHAR NOT NULL, 
	recording_id VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	found_at DOUBLE PRECISION NOT NULL, 
	stored_at DOUBLE PRECISION, 
	staying JSON, 
	CONSTRAINT pk_left_recordings PRIMARY KEY (id), 
	CONSTRAINT uq_left_recordings_desktop_id_recording_id UNIQUE (desktop_id, recording_id)
);
CREATE INDEX ix_left_recordings_desktop_id ON left_recordings (desktop_id);
CREATE INDEX ix_left_recordings_recording_id ON left_recordings (recording_id);
CREATE TABLE mcp_approvals (
	owner VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	question VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	asked_at DOUBLE PRECISION NOT NULL, 
	changed_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_mcp_approvals PRIMARY KEY (owner, digest)
);
CREATE TABLE nodes (
	name VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	public_url VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	places INTEGER NOT NULL, 
	draining BOOLEAN NOT NULL, 
	failures INTEGER NOT NULL, 
	refused_until DOUBLE PRECISION NOT NULL, 
	reason VARCHAR NOT NULL, 
	seen_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_nodes PRIMARY KEY (name)
);
CREATE TABLE one_time_secrets (
	digest VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	ends_at DOUBLE PRECISION NOT NULL, 
	principal JSON NOT NULL, 
	via VARCHAR NOT NULL, 
	CONSTRAINT pk_one_time_secrets PRIMARY KEY (digest)
);
CREATE INDEX ix_one_time_secrets_ends_at ON one_time_secrets (ends_at);
CREATE TABLE people (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	folded_name VARCHAR NOT NULL, 
	role VARCHAR NOT NULL, 
	identity VARCHAR, 
	created_at DOUBLE PRECISION NOT NULL, 
	created_by VARCHAR NOT NULL, 
	signed_in_at DOUBLE PRECISION, 
	CONSTRAINT pk_people PRIMARY KEY (id), 
	CONSTRAINT uq_people_folded_name UNIQUE (folded_name), 
	CONSTRAINT uq_people_identity UNIQUE (identity)
);
CREATE TABLE planes (
	id VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	beat_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_planes PRIMARY KEY (id)
);
CREATE TABLE chat_heads (
	chat_id VARCHAR NOT NULL, 
	content JSON NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_chat_heads PRIMARY KEY (chat_id), 
	CONSTRAINT fk_chat_heads_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE chat_starts (
	chat_id VARCHAR NOT NULL, 
	workdir VARCHAR DEFAULT '' NOT NULL, 
	files JSON, 
	template VARCHAR, 
	profile VARCHAR, 
	timeout_seconds DOUBLE PRECISION, 
	record BOOLEAN DEFAULT true NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_chat_starts PRIMARY KEY (chat_id), 
	CONSTRAINT fk_chat_starts_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE checkpoints (
	id SERIAL NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	turn INTEGER NOT NULL, 
	step_id VARCHAR NOT NULL, 
	content JSON NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_checkpoints PRIMARY KEY (id), 
	CONSTRAINT fk_checkpoints_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_checkpoints_chat_id ON checkpoints (chat_id);
CREATE TABLE files (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR, 
	kind VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	media_type VARCHAR NOT NULL, 
	size BIGINT NOT NULL, 
	sha256 VARCHAR NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	details JSON NOT NULL, 
	waits BOOLEAN DEFAULT false NOT NULL, 
	pack VARCHAR, 
	pack_start BIGINT, 
	CONSTRAINT pk_files PRIMARY KEY (id), 
	CONSTRAINT fk_files_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE SET NULL
);
CREATE INDEX ix_files_chat_id ON files (chat_id);
CREATE INDEX ix_files_pack ON files (pack) WHERE pack IS NOT NULL;
CREATE TABLE invitations (
	digest VARCHAR NOT NULL, 
	person_id VARCHAR NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	created_by VARCHAR NOT NULL, 
	ends_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_invitations PRIMARY KEY (digest), 
	CONSTRAINT fk_invitations_person_id_people FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
CREATE INDEX ix_invitations_person_id ON invitations (person_id);
CREATE TABLE messages (
	id SERIAL NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	position INTEGER, 
	role VARCHAR NOT NULL, 
	content JSON NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	after_step BOOLEAN DEFAULT false NOT NULL, 
	CONSTRAINT pk_messages PRIMARY KEY (id), 
	CONSTRAINT uq_messages_chat_id_position UNIQUE (chat_id, position), 
	CONSTRAINT fk_messages_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE notifications (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	question_id VARCHAR, 
	body JSON NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	attempts INTEGER NOT NULL, 
	next_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_notifications PRIMARY KEY (id), 
	CONSTRAINT fk_notifications_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_notifications_chat_id ON notifications (chat_id);
CREATE TABLE questions (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	turn INTEGER NOT NULL, 
	step_id VARCHAR NOT NULL, 
	call_id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	picture VARCHAR, 
	call JSON, 
	rules JSON NOT NULL, 
	asked_at DOUBLE PRECISION NOT NULL, 
	deadline DOUBLE PRECISION, 
	state VARCHAR NOT NULL, 
	answer VARCHAR, 
	answered_by VARCHAR, 
	closed_at DOUBLE PRECISION, 
	performed_at DOUBLE PRECISION, 
	CONSTRAINT pk_questions PRIMARY KEY (id), 
	CONSTRAINT uq_questions_step_id UNIQUE (step_id), 
	CONSTRAINT fk_questions_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_questions_chat_id ON questions (chat_id);
CREATE UNIQUE INDEX ix_questions_open ON questions (chat_id) WHERE state = 'open';
CREATE TABLE run_activities (
	id SERIAL NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	by VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_run_activities PRIMARY KEY (id), 
	CONSTRAINT fk_run_activities_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_run_activities_chat_id ON run_activities (chat_id);
CREATE TABLE run_shares (
	chat_id VARCHAR NOT NULL, 
	person_id VARCHAR NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	created_by VARCHAR NOT NULL, 
	CONSTRAINT pk_run_shares PRIMARY KEY (chat_id, person_id), 
	CONSTRAINT fk_run_shares_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE turns (
	id SERIAL NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	status VARCHAR NOT NULL, 
	started_at DOUBLE PRECISION NOT NULL, 
	ended_at DOUBLE PRECISION, 
	report VARCHAR NOT NULL, 
	outcome VARCHAR, 
	outcome_source VARCHAR, 
	error VARCHAR, 
	error_kind VARCHAR, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cache_read_tokens INTEGER NOT NULL, 
	cache_write_tokens INTEGER NOT NULL, 
	work VARCHAR, 
	last_step_hash VARCHAR, 
	dropped_thinking INTEGER NOT NULL, 
	thinking_tokens INTEGER DEFAULT '0' NOT NULL, 
	cost_usd DOUBLE PRECISION, 
	recording JSON NOT NULL, 
	recorded BOOLEAN GENERATED ALWAYS AS (json_array_length(recording -> 'file_ids') > 0) STORED, 
	CONSTRAINT pk_turns PRIMARY KEY (id), 
	CONSTRAINT uq_turns_chat_id_number UNIQUE (chat_id, number), 
	CONSTRAINT fk_turns_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_turns_recorded ON turns (chat_id) WHERE recorded;
CREATE TABLE chat_files (
	chat_id VARCHAR NOT NULL, 
	file_id VARCHAR NOT NULL, 
	created_at DOUBLE PRECISION NOT NULL, 
	CONSTRAINT pk_chat_files PRIMARY KEY (chat_id, file_id), 
	CONSTRAINT fk_chat_files_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT fk_chat_files_file_id_files FOREIGN KEY(file_id) REFERENCES files (id) ON DELETE CASCADE
);
CREATE INDEX ix_chat_files_file_id ON chat_files (file_id);
CREATE TABLE held_pictures (
	file_id VARCHAR NOT NULL, 
	plane VARCHAR NOT NULL, 
	data BYTEA NOT NULL, 
	CONSTRAINT pk_held_pictures PRIMARY KEY (file_id), 
	CONSTRAINT fk_held_pictures_file_id_files FOREIGN KEY(file_id) REFERENCES files (id) ON DELETE CASCADE
);
CREATE TABLE steps (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	turn INTEGER NOT NULL, 
	index INTEGER NOT NULL, 
	tool_call_id VARCHAR NOT NULL, 
	tool VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	action VARCHAR, 
	arguments JSON NOT NULL, 
	status VARCHAR NOT NULL, 
	error VARCHAR, 
	result JSON, 
	plane VARCHAR, 
	started_at DOUBLE PRECISION NOT NULL, 
	ended_at DOUBLE PRECISION, 
	timings JSON NOT NULL, 
	details JSON NOT NULL, 
	usage JSON, 
	screenshot_file_id VARCHAR, 
	video_start DOUBLE PRECISION, 
	video_end DOUBLE PRECISION, 
	CONSTRAINT pk_steps PRIMARY KEY (id), 
	CONSTRAINT uq_steps_chat_id_index UNIQUE (chat_id, index), 
	CONSTRAINT fk_steps_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT fk_steps_screenshot_file_id_files FOREIGN KEY(screenshot_file_id) REFERENCES files (id) ON DELETE SET NULL
);
CREATE INDEX ix_steps_call ON steps (chat_id, tool_call_id);
CREATE INDEX ix_steps_screenshot_file_id ON steps (screenshot_file_id);
CREATE TABLE step_targets (
	step_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	role VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	near JSON NOT NULL, 
	x INTEGER, 
	y INTEGER, 
	screen_width INTEGER NOT NULL, 
	screen_height INTEGER NOT NULL, 
	patch BYTEA, 
	patch_x INTEGER, 
	patch_y INTEGER, 
	CONSTRAINT pk_step_targets PRIMARY KEY (step_id, position), 
	CONSTRAINT fk_step_targets_step_id_steps FOREIGN KEY(step_id) REFERENCES steps (id) ON DELETE CASCADE
);
CREATE FUNCTION refuse_change_of_audit() RETURNS trigger LANGUAGE plpgsql AS '
BEGIN
    IF TG_OP = ''UPDATE'' THEN
        RAISE integrity_constraint_violation USING MESSAGE = ''the audit log is append-only'';
    ELSIF OLD.at > extract(epoch FROM now()) - 400 * 86400 THEN
        RAISE integrity_constraint_violation
            USING MESSAGE = ''the audit log is kept for 400 days'';
    END IF;
    RETURN OLD;
END';
CREATE OR REPLACE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY);
INSERT INTO alembic_version VALUES ('0076');
