CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
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
	budget JSON NOT NULL, 
	turn INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	created_at DOUBLE NOT NULL, 
	updated_at DOUBLE NOT NULL, owner VARCHAR DEFAULT 'owner' NOT NULL, egress JSON, without_execute BOOLEAN DEFAULT 0 NOT NULL, approval VARCHAR, domains JSON, look_only BOOLEAN DEFAULT 0 NOT NULL, effort VARCHAR, status_message JSON, driver VARCHAR, generation INTEGER DEFAULT '0' NOT NULL, person_since DOUBLE, person_reported VARCHAR, 
	CONSTRAINT pk_chats PRIMARY KEY (id), 
	CONSTRAINT fk_chats_parent_id_chats FOREIGN KEY(parent_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT uq_chats_token_name UNIQUE (token_name)
);
CREATE INDEX ix_chats_created_at ON chats (created_at);
CREATE INDEX ix_chats_parent_id ON chats (parent_id);
CREATE INDEX ix_chats_root_id ON chats (root_id);
CREATE INDEX ix_chats_state ON chats (state);
CREATE TABLE files (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR, 
	kind VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	media_type VARCHAR NOT NULL, 
	size INTEGER NOT NULL, 
	sha256 VARCHAR NOT NULL, 
	created_at DOUBLE NOT NULL, 
	details JSON NOT NULL, waits BOOLEAN DEFAULT 0 NOT NULL, pack VARCHAR, pack_start INTEGER, 
	CONSTRAINT pk_files PRIMARY KEY (id), 
	CONSTRAINT fk_files_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE SET NULL
);
CREATE INDEX ix_files_chat_id ON files (chat_id);
CREATE TABLE messages (
	id INTEGER NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	position INTEGER, 
	role VARCHAR NOT NULL, 
	content JSON NOT NULL, 
	created_at DOUBLE NOT NULL, after_step BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_messages PRIMARY KEY (id), 
	CONSTRAINT fk_messages_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT uq_messages_chat_id_position UNIQUE (chat_id, position)
);
CREATE TABLE turns (
	id INTEGER NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	number INTEGER NOT NULL, 
	status VARCHAR NOT NULL, 
	started_at DOUBLE NOT NULL, 
	ended_at DOUBLE, 
	report VARCHAR NOT NULL, 
	outcome VARCHAR, 
	outcome_source VARCHAR, 
	error VARCHAR, 
	error_kind VARCHAR, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	cache_read_tokens INTEGER NOT NULL, 
	cache_write_tokens INTEGER NOT NULL, 
	recording JSON NOT NULL, recorded BOOLEAN GENERATED ALWAYS AS (json_array_length(recording, '$.file_ids') > 0) VIRTUAL, dropped_thinking INTEGER DEFAULT '0' NOT NULL, last_step_hash VARCHAR, thinking_tokens INTEGER DEFAULT '0' NOT NULL, cost_usd DOUBLE, work VARCHAR, 
	CONSTRAINT pk_turns PRIMARY KEY (id), 
	CONSTRAINT fk_turns_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT uq_turns_chat_id_number UNIQUE (chat_id, number)
);
CREATE TABLE chat_files (
	chat_id VARCHAR NOT NULL, 
	file_id VARCHAR NOT NULL, 
	created_at DOUBLE NOT NULL, 
	CONSTRAINT pk_chat_files PRIMARY KEY (chat_id, file_id), 
	CONSTRAINT fk_chat_files_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT fk_chat_files_file_id_files FOREIGN KEY(file_id) REFERENCES files (id) ON DELETE CASCADE
);
CREATE INDEX ix_chat_files_file_id ON chat_files (file_id);
CREATE TABLE steps (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	turn INTEGER NOT NULL, 
	"index" INTEGER NOT NULL, 
	tool_call_id VARCHAR NOT NULL, 
	tool VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	action VARCHAR, 
	arguments JSON NOT NULL, 
	status VARCHAR NOT NULL, 
	error VARCHAR, 
	result JSON, 
	started_at DOUBLE NOT NULL, 
	ended_at DOUBLE, 
	timings JSON NOT NULL, 
	details JSON NOT NULL, 
	screenshot_file_id VARCHAR, 
	video_start DOUBLE, 
	video_end DOUBLE, usage JSON, plane VARCHAR, 
	CONSTRAINT pk_steps PRIMARY KEY (id), 
	CONSTRAINT fk_steps_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT fk_steps_screenshot_file_id_files FOREIGN KEY(screenshot_file_id) REFERENCES files (id) ON DELETE SET NULL, 
	CONSTRAINT uq_steps_chat_id_index UNIQUE (chat_id, "index")
);
CREATE INDEX ix_steps_call ON steps (chat_id, tool_call_id);
CREATE INDEX ix_turns_recorded ON turns (chat_id) WHERE recorded;
CREATE TABLE left_recordings (
	id VARCHAR NOT NULL, 
	desktop_id VARCHAR NOT NULL, 
	recording_id VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	found_at DOUBLE NOT NULL, 
	stored_at DOUBLE, staying JSON, 
	CONSTRAINT pk_left_recordings PRIMARY KEY (id), 
	CONSTRAINT uq_left_recordings_desktop_id_recording_id UNIQUE (desktop_id, recording_id)
);
CREATE INDEX ix_left_recordings_desktop_id ON left_recordings (desktop_id);
CREATE INDEX ix_left_recordings_recording_id ON left_recordings (recording_id);
CREATE TABLE chat_heads (
	chat_id VARCHAR NOT NULL, 
	content JSON NOT NULL, 
	created_at DOUBLE NOT NULL, 
	CONSTRAINT pk_chat_heads PRIMARY KEY (chat_id), 
	CONSTRAINT fk_chat_heads_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE audit (
	writer VARCHAR NOT NULL, 
	n INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	actor VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	details JSON NOT NULL, 
	previous VARCHAR NOT NULL, 
	hash VARCHAR NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (writer, n)
);
CREATE INDEX ix_audit_at ON audit (at);
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit WHEN OLD.at > strftime('%s', 'now') - 34560000 BEGIN SELECT RAISE(ABORT, 'the audit log is kept for 400 days'); END;
CREATE INDEX ix_steps_screenshot_file_id ON steps (screenshot_file_id);
CREATE TABLE issued_tokens (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	scopes JSON NOT NULL, 
	created_at DOUBLE NOT NULL, 
	ends_at DOUBLE, 
	digest VARCHAR NOT NULL, created_by VARCHAR DEFAULT '' NOT NULL, 
	CONSTRAINT pk_issued_tokens PRIMARY KEY (id), 
	CONSTRAINT uq_issued_tokens_digest UNIQUE (digest)
);
CREATE TABLE browser_sessions (
	digest VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	scopes JSON NOT NULL, 
	ends_at DOUBLE NOT NULL, 
	token_id VARCHAR NOT NULL, 
	CONSTRAINT pk_browser_sessions PRIMARY KEY (digest)
);
CREATE INDEX ix_browser_sessions_token_id ON browser_sessions (token_id);
CREATE TABLE mcp_approvals (
	owner VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	question VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	asked_at DOUBLE NOT NULL, 
	changed_at DOUBLE NOT NULL, 
	CONSTRAINT pk_mcp_approvals PRIMARY KEY (owner, digest)
);
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
	asked_at DOUBLE NOT NULL, 
	deadline DOUBLE, 
	state VARCHAR NOT NULL, 
	answer VARCHAR, 
	answered_by VARCHAR, 
	closed_at DOUBLE, 
	performed_at DOUBLE, 
	CONSTRAINT pk_questions PRIMARY KEY (id), 
	CONSTRAINT fk_questions_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE, 
	CONSTRAINT uq_questions_step_id UNIQUE (step_id)
);
CREATE INDEX ix_questions_chat_id ON questions (chat_id);
CREATE UNIQUE INDEX ix_questions_open ON questions (chat_id) WHERE state = 'open';
CREATE TABLE checkpoints (
	id INTEGER NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	turn INTEGER NOT NULL, 
	step_id VARCHAR NOT NULL, 
	content JSON NOT NULL, 
	created_at DOUBLE NOT NULL, 
	CONSTRAINT pk_checkpoints PRIMARY KEY (id), 
	CONSTRAINT fk_checkpoints_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_checkpoints_chat_id ON checkpoints (chat_id);
CREATE TABLE notifications (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	question_id VARCHAR, 
	body JSON NOT NULL, 
	created_at DOUBLE NOT NULL, 
	attempts INTEGER NOT NULL, 
	next_at DOUBLE NOT NULL, 
	CONSTRAINT pk_notifications PRIMARY KEY (id), 
	CONSTRAINT fk_notifications_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_notifications_chat_id ON notifications (chat_id);
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
	patch BLOB, 
	patch_x INTEGER, 
	patch_y INTEGER, 
	CONSTRAINT pk_step_targets PRIMARY KEY (step_id, position), 
	CONSTRAINT fk_step_targets_step_id_steps FOREIGN KEY(step_id) REFERENCES steps (id) ON DELETE CASCADE
);
CREATE TABLE chat_starts (
	chat_id VARCHAR NOT NULL, 
	workdir VARCHAR DEFAULT '' NOT NULL, 
	files JSON, 
	template VARCHAR, 
	profile VARCHAR, 
	created_at DOUBLE NOT NULL, timeout_seconds DOUBLE, record BOOLEAN DEFAULT 1 NOT NULL, 
	CONSTRAINT pk_chat_starts PRIMARY KEY (chat_id), 
	CONSTRAINT fk_chat_starts_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE run_activities (
	id INTEGER NOT NULL, 
	chat_id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	"by" VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	at DOUBLE NOT NULL, 
	CONSTRAINT pk_run_activities PRIMARY KEY (id), 
	CONSTRAINT fk_run_activities_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE INDEX ix_run_activities_chat_id ON run_activities (chat_id);
CREATE TABLE people (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	folded_name VARCHAR NOT NULL, 
	role VARCHAR NOT NULL, 
	identity VARCHAR, 
	created_at DOUBLE NOT NULL, 
	created_by VARCHAR NOT NULL, 
	signed_in_at DOUBLE, 
	CONSTRAINT pk_people PRIMARY KEY (id), 
	CONSTRAINT uq_people_folded_name UNIQUE (folded_name), 
	CONSTRAINT uq_people_identity UNIQUE (identity)
);
CREATE TABLE invitations (
	digest VARCHAR NOT NULL, 
	person_id VARCHAR NOT NULL, 
	created_at DOUBLE NOT NULL, 
	created_by VARCHAR NOT NULL, 
	ends_at DOUBLE NOT NULL, 
	CONSTRAINT pk_invitations PRIMARY KEY (digest), 
	CONSTRAINT fk_invitations_person_id_people FOREIGN KEY(person_id) REFERENCES people (id) ON DELETE CASCADE
);
CREATE INDEX ix_invitations_person_id ON invitations (person_id);
CREATE TABLE run_shares (
	chat_id VARCHAR NOT NULL, 
	person_id VARCHAR NOT NULL, 
	created_at DOUBLE NOT NULL, 
	created_by VARCHAR NOT NULL, 
	CONSTRAINT pk_run_shares PRIMARY KEY (chat_id, person_id), 
	CONSTRAINT fk_run_shares_chat_id_chats FOREIGN KEY(chat_id) REFERENCES chats (id) ON DELETE CASCADE
);
CREATE TABLE deployment_facts (
	name VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	CONSTRAINT pk_deployment_facts PRIMARY KEY (name)
);
CREATE TABLE one_time_secrets (
	digest VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	ends_at DOUBLE NOT NULL, 
	principal JSON NOT NULL, 
	via VARCHAR NOT NULL, 
	CONSTRAINT pk_one_time_secrets PRIMARY KEY (digest)
);
CREATE INDEX ix_one_time_secrets_ends_at ON one_time_secrets (ends_at);
CREATE TABLE credential_ends (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	at DOUBLE NOT NULL, 
	CONSTRAINT pk_credential_ends PRIMARY KEY (id)
);
CREATE INDEX ix_credential_ends_at ON credential_ends (at);
CREATE TABLE planes (
	id VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	beat_at DOUBLE NOT NULL, 
	CONSTRAINT pk_planes PRIMARY KEY (id)
);
CREATE TABLE desktops (
	id VARCHAR NOT NULL, 
	chat_id VARCHAR, 
	state VARCHAR NOT NULL, 
	node VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	generation INTEGER NOT NULL, 
	reason VARCHAR NOT NULL, 
	wanted JSON NOT NULL, 
	facts JSON, 
	created_at DOUBLE NOT NULL, 
	changed_at DOUBLE NOT NULL, full_nodes JSON, 
	CONSTRAINT pk_desktops PRIMARY KEY (id)
);
CREATE INDEX ix_desktops_state ON desktops (state, created_at);
CREATE INDEX ix_desktops_chat_id ON desktops (chat_id);
CREATE TABLE nodes (
	name VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	public_url VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	places INTEGER NOT NULL, 
	draining BOOLEAN NOT NULL, 
	failures INTEGER NOT NULL, 
	refused_until DOUBLE NOT NULL, 
	reason VARCHAR NOT NULL, 
	seen_at DOUBLE NOT NULL, 
	CONSTRAINT pk_nodes PRIMARY KEY (name)
);
CREATE INDEX ix_files_pack ON files (pack) WHERE pack IS NOT NULL;
CREATE TABLE held_pictures (
	file_id VARCHAR NOT NULL, 
	plane VARCHAR NOT NULL, 
	data BLOB NOT NULL, 
	CONSTRAINT pk_held_pictures PRIMARY KEY (file_id), 
	CONSTRAINT fk_held_pictures_file_id_files FOREIGN KEY(file_id) REFERENCES files (id) ON DELETE CASCADE
);
CREATE TABLE begun_sign_ins (
	digest VARCHAR NOT NULL, 
	ends_at DOUBLE NOT NULL, 
	redirect_uri VARCHAR NOT NULL, 
	onward VARCHAR NOT NULL, 
	CONSTRAINT pk_begun_sign_ins PRIMARY KEY (digest)
);
CREATE INDEX ix_begun_sign_ins_ends_at ON begun_sign_ins (ends_at);
INSERT INTO alembic_version VALUES ('0076');
